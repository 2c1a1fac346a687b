"""What is done to many dead letters: told before, done as told, safe to cut short."""

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from accounts.errors import Conflict, Forbidden, Invalid, NotFound
from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards import access
from boards.errors import VersionMismatch
from boards.models import Card, Event
from boards.verbs.boards import create_board, set_board_member
from boards.verbs.cards import archive_card, edit_card
from boards.verbs.columns import create_column
from boards.verbs.moving import move_card
from leases.errors import DoesNotFit
from leases.models import Lease
from leases.verbs.requeue import requeue
from supervision.bulk import actions, running
from supervision.bulk.actions import dry_run, go_on, start, stop
from supervision.bulk.one import retry_one
from supervision.bulk.planning import Selection
from supervision.bulk.rules import Doing
from supervision.errors import NotADeadLetter, SelectionChanged
from supervision.letters import LetterFilter
from supervision.models import BulkAction, BulkItem
from tests.builders import a_person, a_world, an_agent, card_row, event_types
from tests.supervision.dead import SCHEMA, a_dead_letter, many_dead_letters

RETRY = Doing("retry")
ALL = Selection(wanted=LetterFilter())


def these(*cards):
    return Selection(card_ids=cards)


def results(world, action):
    page = actions.results(
        world.owner, action_id=action.id, state=None, page_size=200, page_token=""
    )
    return {one.card_id: one for one in page.items}


def a_mixed_lot(world):
    """Dead letters that may be retried, and one of each kind that may not."""
    world.set(input_schema=SCHEMA)
    fine = [a_dead_letter(world, payload={"url": f"u{i}"}) for i in range(3)]
    misfit = a_dead_letter(world, payload={"url": "u"})
    edit_card(world.owner, card_id=misfit, payload={"uri": "u"})
    retried = a_dead_letter(world, payload={"url": "u"})
    requeue(world.owner, card_id=retried)
    held = world.claim().card.id
    assert held == retried
    away = a_dead_letter(world, payload={"url": "u"})
    archive_card(world.owner, card_id=away)
    nowhere = world.add(column=world.done)
    Card.objects.filter(pk=nowhere).update(state="failed")
    elsewhere = another_board(world)
    return [*fine, misfit, retried, away, nowhere, elsewhere]


def another_board(world):
    """A dead letter where the queue is none any more."""
    board = create_board(world.owner, name="Another")
    column = create_column(world.owner, board_id=board, name="Old")
    card = a_dead_letter(world, payload={"url": "u"})
    move_card(world.owner, card_id=card, column_id=column)
    Lease.objects.filter(card_id=card).update(column_id=column)
    return card


@pytest.mark.parametrize("verb", ["retry", "move", "discard"])
def test_the_dry_run_says_what_then_happens(world, verb):
    cards = a_mixed_lot(world)
    target = world.column("Triage")
    doing = Doing(verb, target if verb == "move" else None, "Nobody needs it")
    told = dry_run(world.owner, doing, these(*cards)).plan
    done = start(world.owner, doing, these(*cards), expect=told.will)
    assert done.plan == told
    assert (done.action.done, done.action.refused) == (told.will, told.refused)
    assert done.action.state == "finished"
    expected = {
        card.id: (reason.code, reason.detail)
        for reason in told.reasons
        for card in reason.cards
    }
    for card, one in results(world, done.action).items():
        wanted = ("refused", *expected[card]) if card in expected else ("done", "", "")
        assert (one.state, one.code, one.detail) == wanted
    assert told.will > 0
    assert told.refused > 0


def test_a_dry_run_changes_nothing(world):
    cards = a_mixed_lot(world)
    before = list(Card.objects.order_by("id").values())
    dry_run(world.owner, RETRY, these(*cards))
    assert list(Card.objects.order_by("id").values()) == before
    assert not BulkAction.objects.exists()


def test_a_retry_is_a_new_attempt_and_history_stays(world):
    cards = [a_dead_letter(world, f"Trouble {i}") for i in range(3)]
    start(world.owner, RETRY, ALL)
    assert world.shown() == cards
    assert {card_row(card).attempts for card in cards} == {0}
    assert Lease.objects.filter(state="failed").count() == 3
    assert event_types(cards[0])[-1] == "card.requeued"


def test_what_fits_is_offered_without_another_look(world):
    world.set(input_schema=SCHEMA)
    card = a_dead_letter(world, payload={"url": "u"})
    start(world.owner, RETRY, ALL)
    assert card_row(card).fits is True
    assert world.claim().card.id == card


def test_discarding_archives_with_a_reason_and_can_be_undone(world):
    card = a_dead_letter(world)
    start(world.owner, Doing("discard", reason="Too old"), ALL)
    assert card_row(card).archived_at is not None
    event = card_events(card)[-1]
    assert (event.type, event.data) == ("card.archived", {"reason": "Too old"})


def card_events(card):
    return list(Event.objects.filter(card_id=card).order_by("sequence"))


def test_moved_ones_lie_there_and_are_open_where_that_is_a_queue(world):
    card = a_dead_letter(world)
    triage = world.column("Triage")
    start(world.owner, Doing("move", triage), ALL)
    assert (card_row(card).column_id, card_row(card).state) == (triage, "failed")
    start(world.owner, Doing("move", world.queue), ALL)
    assert world.claim().card.id == card
    with pytest.raises(NotFound):
        start(world.owner, Doing("move", a_world().queue), these(card))


def test_another_number_than_was_told_stops_it(world):
    a_dead_letter(world)
    told = dry_run(world.owner, RETRY, ALL).plan.will
    late = a_dead_letter(world)
    with pytest.raises(SelectionChanged):
        start(world.owner, RETRY, ALL, expect=told)
    assert card_row(late).state == "failed"


def test_more_than_a_few_are_left_to_the_worker(world, monkeypatch):
    monkeypatch.setattr(actions, "AT_ONCE", 5)
    many_dead_letters(world, 12)
    begun = start(world.owner, RETRY, ALL).action
    assert (begun.state, begun.done, begun.total) == ("running", 0, 12)
    monkeypatch.setattr(running, "CHUNK", 5)
    assert running.run_some(30) == 12
    ended = actions.action_of(world.owner, action_id=begun.id)
    assert (ended.state, ended.done) == ("finished", 12)
    assert Card.objects.filter(state="open").count() == 12


def test_without_a_worker_whoever_started_it_can_go_on(world, monkeypatch):
    monkeypatch.setattr(actions, "AT_ONCE", 5)
    many_dead_letters(world, 12)
    begun = start(world.owner, RETRY, ALL).action
    assert go_on(world.owner, action_id=begun.id).state == "finished"
    assert go_on(world.owner, action_id=begun.id).done == 12


def test_a_stopped_one_leaves_the_others_alone(world, monkeypatch):
    monkeypatch.setattr(actions, "AT_ONCE", 5)
    many_dead_letters(world, 12)
    begun = start(world.owner, RETRY, ALL).action
    assert running.run_chunk(begun.id, size=4) == 4
    stopped = stop(world.owner, action_id=begun.id)
    assert (stopped.state, stopped.done) == ("stopped", 4)
    assert stop(world.owner, action_id=begun.id) == stopped
    assert running.run_chunk(begun.id) == 0
    assert Card.objects.filter(state="failed").count() == 8
    waiting = actions.results(
        world.owner, action_id=begun.id, state="waiting", page_size=50, page_token=""
    )
    assert len(waiting.items) == 8


def test_what_changes_between_two_chunks_is_looked_at_anew(world, monkeypatch):
    monkeypatch.setattr(actions, "AT_ONCE", 0)
    card, other = a_dead_letter(world), a_dead_letter(world)
    begun = start(world.owner, RETRY, ALL).action
    requeue(world.owner, card_id=card)
    running.run_some(30)
    found = results(world, begun)
    assert found[card].code == "not_a_dead_letter"
    assert found[other].state == "done"


def test_it_ends_with_the_rights_of_who_started_it(world, monkeypatch):
    monkeypatch.setattr(actions, "AT_ONCE", 0)
    a_dead_letter(world)
    agent = an_agent(world.workspace)
    begun = start(agent, RETRY, ALL).action
    Actor.objects.filter(pk=agent.actor_id).update(disabled_at=begun.created_at)
    assert running.run_some(30) == 0
    assert BulkAction.objects.get().state == "stopped"
    assert not BulkItem.objects.exclude(state="waiting").exists()


def test_viewers_are_refused(world):
    card = a_dead_letter(world)
    begun = start(world.owner, RETRY, these(card)).action
    card = a_dead_letter(world)
    viewer = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(
        world.owner, board_id=world.board, handle=viewer.handle, role=BoardRole.VIEWER
    )
    access.forget()
    for call in (
        lambda: dry_run(viewer, RETRY, ALL),
        lambda: start(viewer, RETRY, these(card)),
        lambda: start(viewer, Doing("discard", reason="x"), ALL),
        lambda: retry_one(viewer, card_id=card),
        lambda: stop(viewer, action_id=begun.id),
        lambda: go_on(viewer, action_id=begun.id),
    ):
        with pytest.raises(Forbidden):
            call()
    assert card_row(card).state == "failed"
    assert actions.action_of(viewer, action_id=begun.id).done == 1


def test_strangers_see_neither_cards_nor_actions(world):
    card = a_dead_letter(world)
    begun = start(world.owner, RETRY, these(card)).action
    stranger = a_world().owner
    with pytest.raises(NotFound):
        dry_run(stranger, RETRY, these(card))
    with pytest.raises(NotFound):
        actions.action_of(stranger, action_id=begun.id)
    assert actions.actions(stranger, page_size=50, page_token="").items == []
    assert len(actions.actions(world.owner, page_size=50, page_token="").items) == 1


def test_nothing_to_do_is_said(world):
    with pytest.raises(Conflict):
        start(world.owner, RETRY, ALL)


def test_the_input_is_put_right_and_retried_at_once(world):
    world.set(input_schema=SCHEMA)
    card = a_dead_letter(world, payload={"url": "u"})
    edit_card(world.owner, card_id=card, payload={"uri": "u"})
    seen = card_row(card)
    with pytest.raises(DoesNotFit) as refused:
        retry_one(world.owner, card_id=card)
    assert refused.value.errors[0].pointer == "/payload"
    with pytest.raises(Invalid):
        retry_one(world.owner, card_id=card, payload=[])
    assert card_row(card).version == seen.version
    with pytest.raises(VersionMismatch):
        retry_one(world.owner, card_id=card, payload={"url": "v"}, version=1)
    retry_one(world.owner, card_id=card, payload={"url": "v"}, version=seen.version)
    assert event_types(card)[-2:] == ["card.updated", "card.requeued"]
    assert world.claim().card.id == card
    assert card_row(card).payload == {"url": "v"}
    with pytest.raises(NotADeadLetter):
        retry_one(world.owner, card_id=card)


def test_a_chunk_costs_the_same_whatever_its_size(world, monkeypatch):
    monkeypatch.setattr(actions, "AT_ONCE", 0)
    many_dead_letters(world, 50)
    begun = start(world.owner, RETRY, ALL).action
    with CaptureQueriesContext(connection) as sent:
        assert running.run_chunk(begun.id) == 50
    assert len(sent) <= 30


def test_one_that_breaks_spoils_nothing_for_the_others(world, monkeypatch):
    cards = [a_dead_letter(world) for _ in range(4)]
    apply = running.apply

    def breaks(caller, doing, these, facts):
        apply(caller, doing, these, facts)
        if any(card.pk == cards[1] for card in these):
            raise IntegrityError("as a constraint would")

    monkeypatch.setattr(running, "apply", breaks)
    ended = start(world.owner, RETRY, ALL).action
    assert (ended.state, ended.done, ended.refused) == ("finished", 3, 1)
    assert results(world, ended)[cards[1]].code == "internal"
    assert card_row(cards[1]).state == "failed"
    assert world.shown() == [cards[0], *cards[2:]]
