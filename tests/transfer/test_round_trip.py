"""A board out and in again is the same board, to the byte."""

import json
import tracemalloc
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from jsonschema import Draft202012Validator

from accounts.models import Actor
from boards.models import Card
from boards.verbs.boards import edit_board
from boards.verbs.cards import archive_card
from boards.verbs.columns import delete_column
from boards.verbs.comments import add_comment
from leases.models import Contract, Lease
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from tests.builders import (
    a_person,
    a_workspace,
    a_world,
    receipt,
)
from tests.invariants import broken
from tests.transfer.boards import exported, imported
from transfer.document import SCHEMA
from transfer.export import AT_WORK


@pytest.fixture
def world(db):
    """A board on which everything has happened."""
    world = a_world(
        backoff_seconds=[3600],
        concurrency_limit=3,
        input_schema={"type": "object", "properties": {"priority": {"maximum": 1e20}}},
    )
    done = world.add("Done", properties={"b": 1, "a": [1e20, None, 0.5]}, payload=[{}])
    complete(world.worker, **receipt(world.claim()), output={"words": 312})
    add_comment(world.worker, card_id=done, text="Here it is.\n\n— ✓")
    world.add("Waits")
    fail(world.worker, **receipt(world.claim()), reason="Not now")
    world.add("Failed")
    fail(world.worker, **receipt(world.claim()), requeue=False, reason="Never")
    at_work = world.add("At work", labels=["a", "b"], priority=1)
    release(world.worker, **receipt(world.claim()), note="Begin at page 3")
    world.held = world.claim()
    world.add("Part", parent=at_work, assignee=world.owner.handle)
    archive_card(world.owner, card_id=world.add("Away"))
    gone = world.column("Gone")
    archive_card(world.owner, card_id=world.add("Left behind", column=gone))
    delete_column(world.owner, board_id=world.board, column_id=gone)
    edit_board(world.owner, board_id=world.board, description="Ünicode\u2028 text")
    return world


def test_into_the_same_workspace_and_into_another_one(world):
    first = exported(world.owner, world.board)
    Draft202012Validator(SCHEMA).validate(json.loads(first))
    assert imported(world.owner, first) != world.board
    for caller in (world.owner, a_person(a_workspace())):
        again = exported(caller, imported(caller, first))
        assert again == first
        # And a copy of the copy, where the people are known as former ones already.
        assert exported(caller, imported(caller, again)) == first


def test_it_is_complete_and_a_card_at_work_is_told_as_open(world):
    document = json.loads(exported(world.owner, world.board))
    cards = {card["title"]: card for card in document["cards"]}
    assert len(cards) == Card.objects.filter(board_id=world.board).count()
    at_work = cards["At work"]
    assert at_work["state"] == "open"
    assert "attempts" not in at_work
    *_, last = at_work["leases"]
    assert (last["state"], last["reason"]) == ("released", AT_WORK)
    assert cards["Done"]["leases"][0]["output"] == {"words": 312}
    assert cards["Failed"]["state"] == "failed"
    assert cards["Waits"]["not_before"] > cards["Waits"]["created_at"]
    assert document["cards"][cards["Part"]["parent"]] == at_work
    # The original is as it was.
    assert Lease.objects.get(pk=world.held.lease.id).state == "active"


def test_no_secret_is_in_it(world):
    text = exported(world.owner, world.board).decode()
    assert world.held.lease_token not in text
    for nonce in Lease.objects.values_list("nonce", flat=True):
        assert bytes(nonce).hex() not in text


def test_what_has_waited_long_enough_waits_no_more(world):
    late = datetime.now(UTC) - timedelta(hours=1)
    Card.objects.filter(title="Waits").update(available_at=late)
    document = json.loads(exported(world.owner, world.board))
    (waits,) = (card for card in document["cards"] if card["title"] == "Waits")
    assert "not_before" not in waits


def test_the_copy_is_a_board_to_work_on(world):
    copy = imported(world.owner, exported(world.owner, world.board))
    queues = Contract.objects.filter(column__board_id=copy)
    assert [one.queue for one in queues] == ["drafting-2"]
    cards = Card.objects.filter(board_id=copy)
    assert cards.filter(state="claimed").count() == 0
    for card in cards:
        assert (
            card.number
            > Card.objects.get(title=card.title, board_id=world.board).number
        )
    # The order on the board is the old one.
    titles = dict(Card.objects.values_list("pk", "title"))
    world.board, world.queue = copy, queues[0].column_id
    # What a copy has not is the history of its attempts as events.
    odd = {rule for rule, _ in broken(world.workspace.pk)}
    assert odd == {"a lease doesn't have its events"}
    assert [titles[one] for one in world.shown()] == ["At work", "Waits", "Part"]


def test_who_is_not_there_stays_known_and_leaves_the_handle_free(world):
    stranger = a_person(a_workspace())
    imported(stranger, exported(world.owner, world.board))
    actors = Actor.objects.in_workspace(stranger.workspace_id)
    assert not actors.filter(handle=world.worker.handle).exists()
    former = actors.get(handle=f"former-{world.worker.handle}")
    assert former.disabled_at is not None
    # Whoever comes with the handle later is not taken for them.
    assert Lease.objects.filter(holder=former).exists()


# What people and programs may have put on a board, out of order and odd.
_TEXT = some.text(
    some.characters(codec="utf-8", exclude_characters="\0"), min_size=0, max_size=12
)
_TITLE = _TEXT.map(lambda text: f"T{text}".strip())
_JSON = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(2**53) + 1, 2**53 - 1)
    | _TEXT
    | some.floats(allow_nan=False, allow_infinity=False, width=32),
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(_TEXT, inner, max_size=3)
    ),
    max_leaves=6,
)
_MOMENT = some.datetimes(
    datetime(1970, 1, 2),  # noqa: DTZ001
    datetime(9000, 1, 1),  # noqa: DTZ001
    timezones=some.just(UTC),
).map(lambda moment: moment.isoformat())
_HANDLE = some.sampled_from(["ann", "drafter", "x" * 39])


def _some_of(**fields):
    return some.fixed_dictionaries({}, optional=fields)


def _with(required, **optional):
    return some.builds(
        lambda a, b: {**a, **b}, some.fixed_dictionaries(required), _some_of(**optional)
    )


_LEASE = _with(
    {
        "attempt": some.integers(1, 9),
        "column": some.integers(0, 1),
        "holder": _HANDLE,
        "state": some.sampled_from(["completed", "released"]),
        "acquired_at": _MOMENT,
        "ended_at": _MOMENT,
    },
    reason=_TEXT,
    output=_JSON,
    cancel_requested_by=_HANDLE,
)
_CARD = _with(
    {"column": some.integers(0, 1), "title": _TITLE},
    description=_TEXT,
    priority=some.integers(1, 5),
    labels=some.lists(
        some.sampled_from(["a", "ß", "long label"]), max_size=3, unique=True
    ),
    skills=some.lists(some.sampled_from(["german"]), max_size=1),
    assignee=_HANDLE,
    due=_MOMENT,
    properties=some.dictionaries(_TEXT, _JSON, max_size=2),
    payload=_JSON,
    output=_JSON,
    state=some.sampled_from(["", "open", "done", "failed"]),
    not_before=_MOMENT,
    attempts=some.integers(0, 9),
    created_by=_HANDLE,
    created_at=_MOMENT,
    archived_at=_MOMENT,
    comments=some.lists(
        some.fixed_dictionaries(
            {"author": _HANDLE, "text": _TITLE, "created_at": _MOMENT}
        ),
        max_size=2,
    ),
    leases=some.lists(_LEASE, max_size=2),
)


@given(cards=some.lists(_CARD, max_size=4), enabled=some.booleans())
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_any_board_that_comes_in_goes_out_the_same_from_then_on(db, cards, enabled):
    caller = a_person(a_workspace())
    document = {
        "format": "novum-board",
        "version": 1,
        "board": {"name": "Any"},
        "columns": [
            {"name": "One", "contract": {"enabled": enabled, "queue": "one"}},
            {"name": "Two", "archived_at": "2020-01-01T00:00:00Z"},
        ],
        "cards": [
            {**card, "parent": i - 1} if i % 2 else card for i, card in enumerate(cards)
        ],
    }
    first = exported(caller, imported(caller, json.dumps(document).encode()))
    assert len(json.loads(first)["cards"]) == len(cards)
    assert exported(caller, imported(caller, first)) == first


@pytest.fixture
def large(db):
    """3,000 cards of 8 KB."""
    world = a_world()
    world.add("Filled", payload={"text": "x" * 8000})
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM boards_card LIMIT 0")
        names = [f'"{column.name}"' for column in cursor.description]
        fresh = {
            '"id"': "gen_random_uuid()",
            '"number"': "number + n",
            '"position"': "position + n",
        }
        cursor.execute(
            f"INSERT INTO boards_card ({', '.join(names)}) SELECT"
            f" {', '.join(fresh.get(name, name) for name in names)}"
            " FROM boards_card, generate_series(1, 2999) n WHERE title = 'Filled'"
        )
    return world


def test_a_large_board_needs_no_more_memory_than_a_part_of_it(large):
    tracemalloc.start()
    try:
        content = exported(large.owner, large.board, whole=False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert content > 3000 * 8000
    # 200 cards at once are 1.6 MB of text, and are there a few times over.
    assert peak < content / 2


def queries(work):
    with CaptureQueriesContext(
        connection,
    ) as seen:
        work()
    return len(seen)


def test_the_queries_are_those_of_a_few_cards(db):
    def a_board(count):
        cards = [{"column": 0, "title": f"Card {i}"} for i in range(count)]
        return json.dumps(
            {
                "format": "novum-board",
                "version": 1,
                "board": {"name": "Any"},
                "columns": [{"name": "One"}],
                "cards": cards,
            }
        ).encode()

    caller = a_person(a_workspace())
    boards = []
    few = queries(lambda: boards.append(imported(caller, a_board(2))))
    many = queries(lambda: boards.append(imported(caller, a_board(190))))
    assert many == few
    few, many = (queries(lambda b=b: exported(caller, b)) for b in boards)
    assert many <= few + 1
