"""Complete: the result is stored once, the card moves on, the receipt is used up."""

from uuid import uuid4

import pytest

from accounts.errors import Forbidden, Invalid
from accounts.roles import BoardRole
from boards.models import Card, Event
from boards.verbs.boards import set_board_member
from boards.verbs.cards import edit_card
from boards.verbs.columns import delete_column
from leases.errors import LeaseLost, OutputRejected
from leases.verbs.complete import Result, complete, complete_many
from leases.verbs.give_back import fail, release
from leases.verbs.revoke import revoke
from leases.verbs.set_contract import Terms, set_contract
from tests.builders import (
    an_agent,
    card_row,
    event_types,
    lapse,
    lease_row,
    receipt,
    snapshot,
)


def test_the_card_moves_to_the_success_column_with_its_output(world):
    card = world.add(properties={"Status": "new", "Owner": "ann"})
    held = world.claim()
    ended = complete(
        world.worker,
        **receipt(held),
        output={"draft": "Text", "words": 2},
        properties={"Status": "drafted"},
    )
    assert (ended.lease.state, ended.lease.ended_at) == ("completed", ended.server_time)
    assert (ended.card.column_id, ended.card.state) == (world.done, "done")
    assert ended.replayed is False
    row = card_row(card)
    assert row.output == {"draft": "Text", "words": 2}
    assert row.properties == {"Status": "drafted", "Owner": "ann"}
    assert (row.lease_id, row.holder_id) == (None, None)
    assert row.version == held.card.version + 1
    assert lease_row(held.lease.id).output == {"draft": "Text", "words": 2}


def test_one_event_tells_of_it_with_the_lease_and_both_columns_inside(world):
    card = world.add()
    held = world.claim()
    complete(world.worker, **receipt(held))
    event = Event.objects.get(card_id=card, type="card.lease.completed")
    assert event.sequence == 3
    assert event.lease_id == held.lease.id
    assert event.actor_id == world.worker.actor_id
    assert event.data["lease"]["attempt"] == 1
    assert event.data["from_column_id"] == str(world.queue)
    assert event.data["to_column_id"] == str(world.done)


def test_the_card_goes_to_the_end_of_the_success_column(world):
    there = world.add(column=world.done)
    cards = world.add_many(2)
    first, second = world.claim(), world.claim()
    complete(world.worker, **receipt(second))
    complete(world.worker, **receipt(first))
    assert world.shown(world.done) == [there, cards[1], cards[0]]


def test_without_a_success_column_the_card_stays_done(world):
    world.set(on_success_column_id=None)
    card = world.add()
    complete(world.worker, **receipt(world.claim()))
    row = card_row(card)
    assert (row.column_id, row.state) == (world.queue, "done")
    assert world.ask().reason == "drained"


def test_a_deleted_success_column_is_none(world):
    card = world.add()
    held = world.claim()
    delete_column(world.owner, board_id=world.board, column_id=world.done)
    assert complete(world.worker, **receipt(held)).card.column_id == world.queue
    assert card_row(card).state == "done"


def test_another_queue_gets_the_card_open_with_fresh_attempts_for_anyone(world):
    colleague = an_agent(world.workspace)
    _as_queue(world, world.done)
    card = world.add(assignee=world.worker.handle)
    world.set(max_attempts=3)
    world.fail_card()
    ended = complete(world.worker, **receipt(world.claim()), output="Draft 2")
    assert (ended.card.state, ended.card.attempts) == ("open", 0)
    world.queue = world.done
    held = world.claim(colleague)
    assert (held.card.id, held.lease.attempt) == (card, 1)
    assert bytes(held.card.output) == b'"Draft 2"'
    assert [one.state for one in held.card.previous_attempts] == ["completed", "failed"]


def test_a_queue_with_a_schema_gets_the_card_unjudged(world):
    _as_queue(world, world.done, input_schema={"required": ["payload"]})
    world.add()
    complete(world.worker, **receipt(world.claim()))
    assert card_row(world.shown(world.done)[0]).fits is None


def test_a_card_that_is_done_keeps_its_attempts_and_its_assignee(world):
    card = world.add(assignee=world.worker.handle)
    world.fail_card()
    complete(world.worker, **receipt(world.claim()))
    row = card_row(card)
    assert (row.attempts, row.assignee_id) == (2, world.worker.actor_id)


def test_the_same_receipt_again_gets_the_first_result_and_changes_nothing(world):
    world.add()
    held = world.claim()
    first = complete(world.worker, **receipt(held), output={"n": 1})
    before = snapshot(world)
    again = complete(
        world.worker, **receipt(held), output={"n": 2}, properties={"x": 1}
    )
    assert again.replayed is True
    assert again.lease == first.lease
    assert again.card == first.card
    assert snapshot(world) == before


def test_without_output_what_is_there_stays(world):
    card = world.add()
    complete(world.worker, **receipt(world.claim()), output=[1, 2])
    _as_queue(world, world.done)
    world.queue = world.done
    complete(world.worker, **receipt(world.claim()))
    assert card_row(card).output == [1, 2]


@pytest.mark.parametrize("output", [0, False, "", [], {}, "null"])
def test_an_output_that_looks_like_nothing_is_stored_all_the_same(world, output):
    card = world.add()
    complete(world.worker, **receipt(world.claim()), output=output)
    assert card_row(card).output == output


def test_an_output_that_does_not_fit_is_refused_and_the_lease_stays(world):
    world.set(output_schema={"type": "object", "required": ["draft"]})
    world.add()
    held = world.claim()
    before = snapshot(world)
    for output in (None, {}, {"Draft": 1}, []):
        with pytest.raises(OutputRejected) as refused:
            complete(world.worker, **receipt(held), output=output)
        assert refused.value.errors[0].pointer.startswith("/output")
    assert snapshot(world) == before
    assert complete(world.worker, **receipt(held), output={"draft": 1})


def test_a_repeat_is_not_judged_again(world):
    world.add()
    held = world.claim()
    complete(world.worker, **receipt(held), output="free text")
    world.set(output_schema={"type": "object"})
    assert complete(world.worker, **receipt(held), output="free text").replayed


def test_a_lapsed_lease_is_lost_although_nobody_took_it_over(world):
    world.add()
    held = world.claim()
    lapse(held)
    before = snapshot(world)
    with pytest.raises(LeaseLost) as lost:
        complete(world.worker, **receipt(held), output="late")
    assert lost.value.facts["lease_state"] == "expired"
    assert snapshot(world) == before


def test_a_zombie_changes_nothing_of_its_successor(world):
    """Case 6: the failure path of a superseded worker wrote over the new holder."""
    world.add()
    zombie = world.claim()
    lapse(zombie)
    world.claim(an_agent(world.workspace))
    before = snapshot(world)
    for verb in (complete, fail, release):
        with pytest.raises(LeaseLost) as lost:
            verb(world.worker, **receipt(zombie))
        assert lost.value.facts["held_by_another"] is True
    assert snapshot(world) == before


@pytest.mark.parametrize("end", [fail, release])
def test_a_lease_that_ended_otherwise_is_lost(world, end):
    world.add()
    held = world.claim()
    end(world.worker, **receipt(held))
    before = snapshot(world)
    with pytest.raises(LeaseLost):
        complete(world.worker, **receipt(held))
    assert snapshot(world) == before


def test_a_revoked_lease_is_lost(world):
    world.add()
    held = world.claim()
    revoke(world.owner, lease_id=held.lease.id)
    with pytest.raises(LeaseLost):
        complete(world.worker, **receipt(held))


def test_a_wrong_receipt_completes_nothing(world):
    world.add()
    held = world.claim()
    with pytest.raises(LeaseLost):
        complete(
            world.worker,
            lease_id=held.lease.id,
            lease_token=held.lease_token[:-1] + "!",
        )
    assert card_row(held.card.id).state == "claimed"


def test_who_may_no_longer_work_here_completes_nothing(world):
    world.add()
    held = world.claim()
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.COMMENTER,
    )
    with pytest.raises(Forbidden):
        complete(world.worker, **receipt(held))


def test_pausing_and_lowering_the_limit_stop_no_completion(world):
    world.set(concurrency_limit=3)
    world.add_many(3)
    held = world.ask(count=3).claims
    world.set(concurrency_limit=1, paused=True)
    for one in held:
        complete(world.worker, **receipt(one))
    assert len(world.shown(world.done)) == 3


def test_a_changed_destination_counts_from_the_change_on(world):
    other = world.column("Elsewhere")
    world.add()
    held = world.claim()
    world.set(on_success_column_id=other)
    assert complete(world.worker, **receipt(held)).card.column_id == other


def test_an_edit_of_a_leased_card_survives_the_completion(world):
    card = world.add(properties={"a": 1})
    held = world.claim()
    edit_card(world.owner, card_id=card, title="Better", properties={"a": 2, "b": 3})
    complete(world.worker, **receipt(held), properties={"a": 4})
    row = card_row(card)
    assert (row.title, row.properties) == ("Better", {"a": 4, "b": 3})


def test_claim_next_brings_the_next_card_in_the_same_call(world):
    _, second = world.add(), world.add()
    first = complete(world.worker, **receipt(world.claim()), claim_next=True)
    assert first.next.card.id == second
    held = {"lease_id": first.next.lease.id, "lease_token": first.next.lease_token}
    last = complete(world.worker, **held, claim_next=True)
    assert (last.next.card, last.next.reason) == (None, "drained")


def test_many_are_completed_in_one_call_each_with_its_own_answer(world):
    world.set(output_schema={"type": "integer"})
    world.add_many(6)
    good, bad, late, done, wrong, good_too = world.ask(count=6).claims
    lapse(late)
    complete(world.worker, **receipt(done), output=7)
    results = [
        Result(**receipt(good), output=1, properties={"n": 1}),
        Result(**receipt(bad), output="one"),
        Result(**receipt(late), output=3),
        Result(**receipt(done), output=4),
        Result(lease_id=wrong.lease.id, lease_token=good.lease_token, output=5),
        Result(lease_id=uuid4(), lease_token="nvml_x", output=6),
        Result(**receipt(good_too), output=2),
    ]
    answers = complete_many(world.worker, results=results).results
    assert [one.lease_id for one in answers] == [one.lease_id for one in results]
    codes = [one.error.code if one.error else "" for one in answers]
    assert codes == [
        "",
        "output_rejected",
        "lease_lost",
        "",
        "lease_lost",
        "not_found",
        "",
    ]
    assert [answers[i].ended.replayed for i in (0, 3, 6)] == [False, True, False]
    outputs = dict(Card.objects.filter(state="done").values_list("pk", "output"))
    assert outputs == {good.card.id: 1, done.card.id: 7, good_too.card.id: 2}
    assert card_row(good.card.id).properties == {"n": 1}
    assert event_types(good_too.card.id)[-1] == "card.lease.completed"


def test_each_of_many_gets_its_own_output_event_and_place(world):
    world.set(concurrency_limit=50)
    world.add_many(50)
    held = world.ask(count=50).claims
    results = [Result(**receipt(one), output=i) for i, one in enumerate(held)]
    complete_many(world.worker, results=results)
    assert [card_row(one.card.id).output for one in held] == list(range(50))
    assert len(set(world.shown(world.done))) == 50
    for one in held:
        assert event_types(one.card.id)[2:] == ["card.lease.completed"]
    world.add_many(50)
    assert len(world.ask(count=50).claims) == 50


NASTY = [
    '"',
    "\\",
    '\\"',
    "{a,b}",
    "NULL",
    "a\nb\tc",
    "„“ ü 🐝",
    "\\x41",
    "%s %(a)s",
    "$1",
]


def test_outputs_come_back_as_they_were_whatever_is_in_them(world):
    values = [*NASTY, {text: [text] for text in NASTY}, None, 10**15, 1e-7, True]
    world.add_many(len(values))
    held = world.ask(count=len(values)).claims
    results = [
        Result(**receipt(one), output=value, properties={"value": value})
        for one, value in zip(held, values, strict=True)
    ]
    complete_many(world.worker, results=results)
    rows = [card_row(one.card.id) for one in held]
    assert [row.output for row in rows] == values
    assert [row.properties["value"] for row in rows] == values


def test_one_lease_twice_in_a_call_is_refused_as_are_none_and_too_many(world):
    world.add()
    result = Result(**receipt(world.claim()))
    for results in ([], [result, result], [result] * 51):
        with pytest.raises(Invalid):
            complete_many(world.worker, results=results)
    assert world.shown(world.done) == []


def _as_queue(world, column, **terms):
    set_contract(
        world.owner,
        board_id=world.board,
        column_id=column,
        terms=Terms(enabled=True, **terms),
    )
