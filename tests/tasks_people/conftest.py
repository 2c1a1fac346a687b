import pytest

from tasks_people import queues


@pytest.fixture(autouse=True)
def _fresh_queues():
    """A rolled back test's queues must not outlive it."""
    queues.forget()
    yield
    queues.forget()
