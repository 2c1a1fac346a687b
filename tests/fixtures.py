"""What tests start from. Loaded by conftest.py once the services run."""

import pytest

from accounts import credentials
from boards import access
from tests.builders import World, a_world
from tests.connections import dismiss


@pytest.fixture(autouse=True)
def _fresh_caches():
    """A rolled back test's tokens and roles must not outlive it."""
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
