"""The contract of a column: the whole of it, checked, with all that follows."""

from uuid import uuid4

import pytest

from accounts.errors import Forbidden, NotFound
from accounts.roles import WorkspaceRole
from boards.models import Card, Column, Event
from boards.verbs.cards import archive_card, restore_card
from boards.verbs.columns import delete_column
from leases.contract import (
    HIGHEST_MAX_ATTEMPTS,
    MAX_BACKOFF_SECONDS,
    MAX_BACKOFF_STEPS,
    MAX_CONCURRENCY_LIMIT,
    MAX_LEASE_SECONDS,
)
from leases.errors import CardsHeld, InvalidContract
from leases.models import Contract
from leases.reads import contract
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.set_contract import Terms, set_contract
from tests.builders import (
    a_person,
    a_world,
    card_row,
    lease_row,
    receipt,
    snapshot,
)


def put(world, column, **terms):
    return set_contract(
        world.owner, board_id=world.board, column_id=column, terms=Terms(**terms)
    )


def test_a_column_without_a_contract_has_the_defaults_and_is_no_queue(world):
    found = contract(world.owner, board_id=world.board, column_id=world.done)
    assert (found.enabled, found.paused, found.queue) == (False, False, "")
    assert (found.lease_ttl_seconds, found.max_attempts) == (300, 5)
    assert (found.backoff_seconds, found.concurrency_limit) == ([], None)


def test_what_is_set_is_what_is_read(world):
    said = put(
        world,
        world.done,
        enabled=True,
        paused=True,
        pause_reason="Budget",
        queue="final_check",
        lease_ttl_seconds=60,
        max_attempts=2,
        backoff_seconds=[1, 5],
        on_success_column_id=world.failed,
        on_failure_column_id=world.queue,
        concurrency_limit=4,
        input_schema={"type": "object"},
        output_schema=True,
    )
    assert contract(world.owner, board_id=world.board, column_id=world.done) == said
    assert said.queue == "final_check"
    assert (said.pause_reason, said.backoff_seconds) == ("Budget", [1, 5])
    assert (said.input_schema, said.output_schema) == ({"type": "object"}, True)


def test_it_replaces_the_whole_and_null_is_the_default(world):
    put(
        world,
        world.done,
        enabled=True,
        max_attempts=2,
        backoff_seconds=[5],
        concurrency_limit=4,
        output_schema={},
        on_success_column_id=world.failed,
    )
    found = put(world, world.done, enabled=True, max_attempts=None)
    assert (found.max_attempts, found.backoff_seconds) == (5, [])
    assert (found.concurrency_limit, found.output_schema) == (None, None)
    assert found.on_success_column_id is None
    assert found.version == 2


def test_null_as_lease_time_means_no_end_and_leaving_it_out_the_default(world):
    assert put(world, world.done, lease_ttl_seconds=None).lease_ttl_seconds is None
    assert put(world, world.done).lease_ttl_seconds == 300


def test_the_queue_is_named_after_the_column_and_keeps_its_name(world):
    column = world.column("Fact check, please!")
    assert put(world, column, enabled=True).queue == "fact-check-please"
    assert put(world, column, enabled=True).queue == "fact-check-please"
    assert put(world, world.column("Fact check: please")).queue == "fact-check-please-2"
    assert put(world, world.column("日本")).queue == "queue"


def test_a_name_is_once_in_a_workspace(world):
    put(world, world.done, enabled=True, queue="reports")
    with pytest.raises(InvalidContract) as refused:
        put(world, world.failed, enabled=True, queue="reports")
    assert refused.value.errors[0].pointer == "/queue"
    assert not Contract.objects.filter(pk=world.failed).exists()
    other = a_world()
    assert put(other, other.done, enabled=True, queue="reports").queue == "reports"


@pytest.mark.parametrize(
    ("pointer", "terms"),
    [
        ("/lease_ttl_seconds", {"lease_ttl_seconds": 0}),
        ("/lease_ttl_seconds", {"lease_ttl_seconds": MAX_LEASE_SECONDS + 1}),
        ("/max_attempts", {"max_attempts": 0}),
        ("/max_attempts", {"max_attempts": HIGHEST_MAX_ATTEMPTS + 1}),
        ("/concurrency_limit", {"concurrency_limit": 0}),
        ("/concurrency_limit", {"concurrency_limit": -1}),
        ("/concurrency_limit", {"concurrency_limit": MAX_CONCURRENCY_LIMIT + 1}),
        ("/backoff_seconds/1", {"backoff_seconds": [5, 4]}),
        ("/backoff_seconds/0", {"backoff_seconds": [-1]}),
        ("/backoff_seconds/1", {"backoff_seconds": [1, MAX_BACKOFF_SECONDS + 1]}),
        ("/backoff_seconds", {"backoff_seconds": [1] * (MAX_BACKOFF_STEPS + 1)}),
        ("/queue", {"queue": ""}),
        ("/queue", {"queue": "Reports"}),
        ("/queue", {"queue": "-x"}),
        ("/queue", {"queue": "reports\n"}),
        ("/queue", {"queue": "x" * 61}),
        ("/on_success_column_id", {"on_success_column_id": uuid4()}),
        ("/on_failure_column_id", {"on_failure_column_id": uuid4()}),
        ("/input_schema/type", {"input_schema": {"type": "text"}}),
        ("/output_schema", {"output_schema": 7}),
        ("/output_schema/$ref", {"output_schema": {"$ref": "http://x/y"}}),
    ],
)
def test_a_term_that_does_not_fit_is_named_and_nothing_changes(world, pointer, terms):
    before = snapshot(world)
    with pytest.raises(InvalidContract) as refused:
        world.set(**terms)
    assert [error.pointer for error in refused.value.errors] == [pointer]
    assert snapshot(world) == before


def test_every_term_that_does_not_fit_is_named_at_once(world):
    with pytest.raises(InvalidContract) as refused:
        put(
            world,
            world.done,
            max_attempts=0,
            queue="No!",
            backoff_seconds=[2, 1],
            input_schema={"type": 1},
        )
    assert len(refused.value.errors) == 4


def test_a_column_of_another_board_is_no_destination(world):
    other = a_world()
    deleted = world.column("Deleted")
    delete_column(world.owner, board_id=world.board, column_id=deleted)
    for column in (other.done, deleted):
        with pytest.raises(InvalidContract):
            world.set(on_success_column_id=column)


def test_it_takes_a_manager_of_the_board(world):
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    with pytest.raises(Forbidden):
        set_contract(member, board_id=world.board, column_id=world.queue, terms=Terms())
    with pytest.raises(NotFound):
        set_contract(
            a_world().owner,
            board_id=world.board,
            column_id=world.queue,
            terms=Terms(),
        )
    with pytest.raises(NotFound):
        put(world, a_world().queue)


def test_events_tell_of_the_change_and_of_pausing(world):
    world.set(max_attempts=7)
    world.set(paused=True, pause_reason="Budget")
    world.set(paused=False)
    rows = Event.objects.filter(column_id=world.queue).order_by("id")
    types = list(rows.values_list("type", flat=True))
    assert types[-5:] == [
        "column.contract.updated",
        "column.contract.updated",
        "column.paused",
        "column.contract.updated",
        "column.resumed",
    ]
    assert rows.filter(type="column.paused").get().data["pause_reason"] == "Budget"


def test_enabling_makes_the_cards_jobs(world):
    column = world.column("New")
    cards = [world.add(column=column) for _ in range(3)]
    archive_card(world.owner, card_id=cards[2])
    assert card_row(cards[0]).state == ""
    put(world, column, enabled=True)
    assert {card_row(card).state for card in cards} == {"open"}
    world.queue = column
    assert world.claim_all() == cards[:2]
    restore_card(world.owner, card_id=cards[2])
    assert world.claim_all() == cards[2:]


def test_disabling_makes_them_plain_cards_again(world):
    card = world.add()
    world.add()
    waiting = world.fail_card(retry_after_seconds=60)
    world.set(enabled=False)
    assert {card_row(one).state for one in (card, waiting)} == {""}
    assert Column.objects.get(pk=world.queue).is_queue is False
    world.set(enabled=True)
    assert card_row(card).state == "open"


def test_what_a_queue_has_finished_stays_finished(world):
    world.set(on_success_column_id=None, on_failure_column_id=None, max_attempts=1)
    done, failed = world.add(), world.add()
    complete(world.worker, **receipt(world.claim()))
    fail(world.worker, **receipt(world.claim()))
    world.set(enabled=False)
    world.set(enabled=True)
    assert (card_row(done).state, card_row(failed).state) == ("done", "failed")
    assert world.ask().reason == "drained"


def test_what_another_queue_has_finished_becomes_work(world):
    card = world.add()
    complete(world.worker, **receipt(world.claim()))
    put(world, world.done, enabled=True)
    world.queue = world.done
    assert world.claim().card.id == card


def test_disabling_is_refused_while_cards_are_held(world):
    world.add_many(2)
    world.claim(), world.claim(world.owner)
    before = snapshot(world)
    with pytest.raises(CardsHeld) as refused:
        world.set(enabled=False)
    assert refused.value.facts["count"] == 2
    assert f"@{world.worker.handle}" in refused.value.detail
    assert snapshot(world) == before


def test_with_force_the_held_cards_are_taken_away(world):
    world.set(concurrency_limit=5)
    world.add_many(3)
    held = world.claim()
    world.set(enabled=False, force=True)
    assert lease_row(held.lease.id).state == "revoked"
    assert not Card.objects.filter(column_id=world.queue).exclude(state="").exists()
    world.set(enabled=True)
    assert len(world.claim_all()) == 3


def test_a_card_given_back_to_a_disabled_queue_is_a_plain_card(world):
    """A lease can outlive its queue only by a row put there by hand; then still."""
    card = world.add()
    held = world.claim()
    Contract.objects.filter(pk=world.queue).update(enabled=False)
    Column.objects.filter(pk=world.queue).update(is_queue=False)
    release(world.worker, **receipt(held))
    assert card_row(card).state == ""


def test_a_lower_maximum_fails_what_is_over_it(world):
    world.set(max_attempts=5)
    world.add_many(2)
    over = world.fail_card()
    world.fail_card()
    fail(world.worker, **receipt(world.claim()))
    world.set(max_attempts=2)
    assert card_row(over).state == "failed"
    assert len(world.claim_all()) == 1


def test_new_cards_arrive_as_jobs_and_unjudged_where_there_is_a_schema(world):
    assert card_row(world.add()).fits is True
    world.set(input_schema={})
    row = card_row(world.add())
    assert (row.state, row.fits) == ("open", None)
    row = card_row(world.add(column=world.done))
    assert (row.state, row.fits) == ("", True)


def test_setting_the_same_again_changes_the_version_only(world):
    world.set(concurrency_limit=2)
    world.add_many(3)
    world.claim()
    before = snapshot(world)
    world.set()
    after = snapshot(world)
    assert after["cards"] == before["cards"]
    assert after["slots"] == before["slots"]
    assert after["contracts"][0]["version"] == before["contracts"][0]["version"] + 1
