import pytest


@pytest.fixture(params=["one first", "two first"])
def order(request, transactional_db) -> str:
    """Which of the two is stopped in the middle of its work."""
    return request.param
