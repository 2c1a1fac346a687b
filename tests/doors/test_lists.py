"""Cursor pages (AIP-158): to the end, each thing once, in one order."""

from itertools import chain

import pytest

from accounts.pages import encode_cursor
from tests.builders import a_seat, a_token
from tests.doors.http import door_of, pages

COUNT = 7
HUGE = 10**30
# What a token has in front of its cursor.
MARK = 12


@pytest.fixture
def lists(world, owner, queue):
    """A list of COUNT things of every kind that comes in pages."""
    world.add_many(COUNT)
    owner.post(f"{queue}:claim-next", {"count": COUNT})
    card = world.add("Commented")
    for number in range(COUNT):
        owner.post(f"/v1/cards/{card}/comments", {"text": f"{number}"})
        owner.post("/v1/boards", {"name": f"Board {number}"})
    seats = [a_seat(world.workspace) for _ in range(COUNT)]
    for _ in range(COUNT):
        a_token(seats[0])
    return {
        "cards": "/v1/cards?state=claimed",
        "column": f"/v1/cards?column_id={world.queue}",
        "comments": f"/v1/cards/{card}/comments",
        "leases": f"/v1/boards/{world.board}/leases?state=all",
        "mine": "/v1/me/leases",
        "boards": "/v1/boards",
        "agents": "/v1/agents",
        "tokens": f"/v1/agents/{seats[0].pk}/tokens",
        "members": "/v1/members",
    }


def split(path):
    path, _, query = path.partition("?")
    return path, dict(part.split("=") for part in query.split("&") if part)


def test_pages_lead_to_the_end_and_name_each_thing_once(owner, lists):
    for path, query in map(split, lists.values()):
        whole = [one["id"] for one in chain(*pages(owner, path, **query))]
        assert len(whole) >= COUNT
        assert len(set(whole)) == len(whole)
        for size in (1, 3, len(whole)):
            cut = pages(owner, path, **query, page_size=size)
            assert [one["id"] for one in chain(*cut)] == whole
            assert [len(page) for page in cut[:-1]] == [size] * (len(cut) - 1)
            assert 1 <= len(cut[-1]) <= size


def test_a_cursor_that_is_not_ours_is_a_400(owner, lists):
    wrong = [
        "x",
        "é",
        "=",
        "AAAA",
        encode_cursor(),
        encode_cursor(1),
        encode_cursor("x"),
        encode_cursor({"id": 1}),
        encode_cursor(1, 2, 3, 4, 5),
    ]
    for path, query in map(split, lists.values()):
        ours = owner.get(path, **query, page_size=1).json()["next_page_token"]
        mark = ours[:MARK]
        for token in (*wrong, mark, *(mark + one for one in wrong), f" {ours}"):
            answer = owner.get(path, **query, page_token=token)
            assert (answer.status_code, answer.json()["code"]) == (400, "bad_cursor")


def test_a_cursor_with_numbers_out_of_any_range_breaks_nothing(owner, lists, world):
    path, query = split(lists["column"])
    token = owner.get(path, **query, page_size=1).json()["next_page_token"]
    for parts in (
        (HUGE, 1, world.board),
        (1, HUGE, world.board),
        (-HUGE, 0, world.board),
    ):
        answer = owner.get(
            path, **query, page_token=token[:MARK] + encode_cursor(*parts)
        )
        assert answer.status_code in (200, 400)


def test_the_size_of_a_page_is_bounded(owner, lists):
    for path, query in map(split, lists.values()):
        whole = owner.get(path, **query).json()
        for size in (0, 200, 201, HUGE):
            answer = owner.get(path, **query, page_size=size)
            assert answer.status_code == 200
            assert answer.json() == whole
        for size, status in (
            (-1, 400),
            (-HUGE, 400),
            ("x", 422),
            ("", 422),
            (1.5, 422),
        ):
            answer = owner.get(path, **query, page_size=size)
            assert (answer.status_code, answer.json()["code"]) == (status, "invalid")
            assert answer.json()["errors"][0]["pointer"] == "/page_size"


def test_a_page_has_at_most_200(worker, world):
    world.add_many(205)
    found = pages(worker, "/v1/cards", page_size=HUGE)
    assert [len(page) for page in found] == [200, 5]
    assert [len(page) for page in pages(worker, "/v1/cards")] == [50, 50, 50, 50, 5]


def test_what_comes_in_between_moves_nothing_out_of_the_pages(worker, owner, world):
    """A card put on top, one moved behind and one archived while somebody turns
    pages: the others come once, in their order."""
    cards = [str(card) for card in world.add_many(6)]
    query = {"column_id": world.queue, "page_size": 2}
    first = worker.get("/v1/cards", **query).json()
    owner.post(
        "/v1/cards",
        {
            "board_id": str(world.board),
            "column_id": str(world.queue),
            "title": "On top",
            "position": "top",
        },
    )
    owner.post(f"/v1/cards/{cards[1]}:archive")
    token = first["next_page_token"]
    second = worker.get("/v1/cards", **query, page_token=token).json()
    assert [card["id"] for card in second["items"]] == cards[2:4]
    shown = [card["title"] for card in chain(*pages(worker, "/v1/cards", **query))]
    assert shown[0] == "On top"
    assert len(shown) == 6


def test_a_page_token_shows_nothing_of_a_private_board(owner, world):
    stranger = door_of(world.worker)
    world.add_many(3)
    token = owner.get("/v1/cards", page_size=1).json()["next_page_token"]
    owner.patch(f"/v1/boards/{world.board}", {"default_role": None})
    assert stranger.get("/v1/cards", page_token=token).json()["items"] == []
