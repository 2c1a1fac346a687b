import pytest


@pytest.fixture(params=["one first", "two first"])
def order(request, transactional_db) -> str:
    """Which of the two is stopped in the middle of its work."""
    return request.param


@pytest.fixture(params=[False, True], ids=["after a look", "at once"])
def known(request) -> bool:
    """Whether the process that gave the card out knows the column's terms: on which way
    a completion goes (tests.ways)."""
    return request.param
