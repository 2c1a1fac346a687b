"""Cursor pages: every row once, in order, whatever the size of a page."""

from itertools import chain
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.ids import new_id
from accounts.models import Actor
from accounts.pages import (
    DEFAULT_PAGE_SIZE,
    MAX_PAGE_SIZE,
    BadCursor,
    cut_page,
    decode_cursor,
    encode_cursor,
)
from tests.builders import a_workspace


@pytest.fixture
def actors(db):
    """Forty rows with many ties in their name."""
    workspace = a_workspace()
    Actor.objects.bulk_create(
        Actor(workspace=workspace, kind="agent", handle=f"a{n}", name=f"N{n % 3}")
        for n in range(40)
    )
    return Actor.objects.filter(workspace=workspace)


def pages(rows, order, types, size):
    token, found = "", []
    while True:
        page = cut_page(rows, order, types, size, token, lambda row: row.pk)
        found.append(page.items)
        token = page.next_page_token
        if not token:
            return found


@pytest.mark.parametrize("order", [("name", "id"), ("-name", "-id")])
@pytest.mark.parametrize("size", [1, 7, 20, 39, 40, 41])
def test_pages_put_together_are_the_whole(actors, order, size):
    found = pages(actors, order, tuple[str, UUID], size)
    whole = list(actors.order_by(*order).values_list("pk", flat=True))
    assert list(chain(*found)) == whole
    assert all(len(page) == size for page in found[:-1])
    assert found[-1]


def test_rows_that_come_and_go_meanwhile_shift_nothing(actors):
    order, types = ("name", "id"), tuple[str, UUID]
    first = cut_page(actors, order, types, 10, "", lambda row: row.pk)
    expected = list(actors.order_by(*order).values_list("pk", flat=True))[10:]
    Actor.objects.filter(pk=first.items[0]).delete()
    rest = pages(actors, order, types, 0)
    second = cut_page(actors, order, types, 50, first.next_page_token, lambda r: r.pk)
    assert second.items == expected
    assert list(chain(*rest))[9:] == expected


def test_sizes_are_bounded(actors):
    assert DEFAULT_PAGE_SIZE < MAX_PAGE_SIZE
    page = cut_page(actors, ("id",), tuple[UUID], 10_000, "", lambda row: row.pk)
    assert len(page.items) == 40
    assert len(pages(actors, ("id",), tuple[UUID], 0)[0]) == 40


@given(st.text())
@settings(max_examples=500, derandomize=True, database=None)
def test_any_text_is_a_cursor_of_ours_or_is_refused(token):
    try:
        found = decode_cursor(token, tuple[int, UUID])
    except BadCursor:
        return
    assert isinstance(found[0], int)


def test_a_cursor_comes_back_as_it_was():
    key = new_id()
    assert decode_cursor(encode_cursor(3, key), tuple[int, UUID]) == (3, key)


def test_ids_rise_with_time():
    made = [new_id() for _ in range(5000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
