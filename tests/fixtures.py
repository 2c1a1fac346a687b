"""What tests start from. Loaded by conftest.py once the services run."""

import pytest

from accounts import credentials
from boards import access
from tasks_people import queues
from tests.builders import World, a_world
from tests.connections import dismiss


@pytest.fixture(autouse=True)
def _fresh_caches(monkeypatch):
    """A rolled back test's tokens and roles must not outlive it. Within a test the time
    stands still for them, so that a slow machine changes no number of statements."""
    for module in (credentials, access, queues):
        monkeypatch.setattr(module, "monotonic", lambda: 1000.0)
    credentials.forget_tokens()
    access.forget()
    yield
    credentials.forget_tokens()
    access.forget()
    dismiss()


@pytest.fixture
def world(db) -> World:
    """A board with an enabled queue, one owner and one worker."""
    return a_world()
