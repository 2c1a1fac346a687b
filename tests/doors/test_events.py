"""The feed: everything that happened, in order, from a cursor on.

It shows what is committed and older than every transaction still running anywhere in
the cluster. So these tests commit, and run when no other test does.
"""

from itertools import pairwise
from uuid import UUID

import pytest

from accounts.pages import encode_cursor
from boards.models import Event
from tests.builders import World, a_world
from tests.doors.http import Http, door_of
from tests.processes.waiting import wait_until_told

pytestmark = pytest.mark.processes
HUGE = 10**30


@pytest.fixture
def world(transactional_db) -> World:
    return a_world()


def events(door: Http, **query) -> dict:
    """One page of all that was committed."""
    wait_until_told()
    return door.get("/v1/events", **query).json()


def feed(door: Http, **query) -> list[dict]:
    """All events, page by page."""
    found, cursor = [], ""
    while True:
        page = events(door, **query, after=cursor)
        found += page["items"]
        cursor = page["cursor"]
        if not page["next_page_token"]:
            return found


def types(events):
    return [event["type"] for event in events]


def test_a_cards_life_is_told_in_order_without_a_gap(owner, worker, queue, world):
    card = str(world.add("Otters"))
    held = worker.post(f"{queue}:claim-next").json()
    lease = f"/v1/leases/{held['lease']['id']}"
    worker.post(f"{lease}:renew", {"lease_token": held["lease_token"]})
    worker.post(f"{lease}:fail", {"lease_token": held["lease_token"], "reason": "No."})
    owner.patch(f"/v1/cards/{card}", {"title": "Seals"})
    owner.post(f"/v1/cards/{card}/comments", {"text": "Really?"})
    told = feed(owner, card_id=card)
    assert types(told) == [
        "card.created",
        "card.lease.claimed",
        "card.lease.failed",
        "card.updated",
        "card.commented",
    ]
    assert [event["sequence"] for event in told] == [1, 2, 3, 4, 5]
    assert all(one["at"] <= other["at"] for one, other in pairwise(told))
    claimed, failed = told[1:3]
    assert claimed["actor"]["handle"] == world.worker.handle
    assert claimed["lease_id"] == held["lease"]["id"]
    assert failed["data"]["lease"]["reason"] == "No."
    assert failed["data"]["lease"]["outcome"] == "requeued"


def test_a_reader_goes_on_where_it_stopped(owner, world):
    world.add_many(5)
    everything = feed(owner)
    assert [event["id"] for event in feed(owner, limit=2)] == [
        event["id"] for event in everything
    ]
    first = events(owner, limit=3)
    rest = events(owner, after=first["cursor"])
    assert first["items"] + rest["items"] == everything
    nothing = events(owner, after=rest["cursor"])
    assert (nothing["items"], nothing["cursor"]) == ([], rest["cursor"])
    world.add()
    later = events(owner, after=nothing["cursor"])
    assert types(later["items"]) == ["card.created"]


def test_a_cursor_is_a_place_and_goes_on_with_any_filter(owner, world):
    """Readers keep it for days, and it's bound to nothing that they asked for."""
    cursor = events(owner, limit=1)["cursor"]
    card = str(world.add())
    new = events(owner, after=cursor, card_id=card, types="card.*", limit=3)
    assert types(new["items"]) == ["card.created"]
    # As earlier versions gave them.
    kept = encode_cursor(0, UUID(int=0))
    assert events(owner, after=kept, limit=1)["items"]


def test_events_are_chosen_by_kind_board_and_card(owner, worker, queue, world):
    card = str(world.add())
    world.add()
    worker.post(f"{queue}:claim-next")
    assert types(feed(owner, types="card.lease.*")) == ["card.lease.claimed"]
    both = feed(owner, types="card.lease.claimed,card.created")
    assert types(both) == ["card.created", "card.created", "card.lease.claimed"]
    assert len(feed(owner, types="card.*", card_id=card)) == 2
    assert len(feed(owner, board_id=world.board)) == len(feed(owner))
    assert feed(owner, types="nothing.such") == []


def test_events_of_a_board_one_cannot_see_are_not_told(owner, worker, world):
    elsewhere = a_world()
    elsewhere.add()
    foreign = {str(elsewhere.board)}
    assert foreign.isdisjoint(event["board_id"] for event in feed(owner))
    assert owner.get("/v1/events", board_id=elsewhere.board).status_code == 404
    owner.patch(f"/v1/boards/{world.board}", {"default_role": None})
    assert feed(worker) == []
    assert feed(door_of(elsewhere.owner))


@pytest.mark.parametrize("after", ["x", "WzFd", "é", "W10"])
def test_a_cursor_that_is_not_ours_is_a_400(owner, after):
    answer = owner.get("/v1/events", after=after)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_cursor")


def test_a_cursor_with_a_number_out_of_any_range_breaks_nothing(owner, world):
    for number in (HUGE, -HUGE):
        answer = owner.get("/v1/events", after=encode_cursor(number, world.board))
        assert answer.status_code in (200, 400)


@pytest.mark.parametrize("limit", [0, -1, 201, HUGE, "x"])
def test_a_page_of_events_is_bounded(owner, limit):
    assert owner.get("/v1/events", limit=limit).status_code == 422


def test_contracts_and_boards_have_their_events(owner, queue, world):
    owner.put(f"{queue}/contract", {"enabled": True, "paused": True})
    owner.patch(queue, {"name": "Writing"})
    told = types(feed(owner, board_id=world.board))
    assert told[-3:] == ["column.contract.updated", "column.paused", "column.updated"]
    assert Event.objects.filter(card_id=None, sequence__isnull=False).count() == 0


def test_a_feed_from_now_on_has_what_comes_and_nothing_that_was(owner, world):
    world.add("Before")
    page = events(owner, board_id=world.board, after="now")
    assert page["items"] == []
    assert page["next_page_token"] == ""
    card = str(world.add("After"))
    new = events(owner, board_id=world.board, after=page["cursor"])
    assert [event["card_id"] for event in new["items"]] == [card]


def test_a_feed_from_now_on_of_a_board_one_cannot_see_is_not_found(world):
    stranger = door_of(a_world().worker)
    answer = stranger.get("/v1/events", board_id=world.board, after="now")
    assert answer.status_code == 404
