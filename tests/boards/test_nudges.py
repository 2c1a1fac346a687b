"""Nudges: said of everything that happens, after it's committed, and nobody's burden."""

import socket
import threading
from time import monotonic, sleep
from uuid import uuid4

import pytest
from django.db import transaction

from boards import events, hearing, nudges
from boards.hearing import Ear
from boards.models import Event
from boards.nudges import DULL, MOST_HELD, MOST_TOLD, Nudge, decoded, encoded, nudge
from boards.verbs.cards import archive_card, edit_card, restore_card
from boards.verbs.comments import add_comment
from leases.verbs import pause
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.reap import reap
from leases.verbs.requeue import requeue
from leases.verbs.revoke import revoke
from tests.builders import a_world, lapse, receipt

WORDS = [
    Nudge(uuid4()),
    Nudge(uuid4(), uuid4()),
    Nudge(uuid4(), uuid4(), uuid4()),
    Nudge(uuid4(), actor_id=uuid4()),
]


@pytest.fixture
def said(monkeypatch):
    found = []
    monkeypatch.setattr(nudges, "_put", found.extend)
    return found


@pytest.fixture
def sender(monkeypatch):
    made = nudges._Sender()
    monkeypatch.setattr(nudges, "_sender", made)
    return made


def until(holds):
    deadline = monotonic() + 30
    while not holds():
        assert monotonic() < deadline
        sleep(0.01)


def test_what_is_said_is_heard():
    assert decoded(encoded(WORDS)) == WORDS


@pytest.mark.parametrize("text", [encoded(None), b"x", encoded(WORDS)[:-1]])
def test_what_is_not_understood_means_anything_anywhere(text):
    assert decoded(text) is None


def test_every_event_that_may_bring_something_to_claim_is_said(transactional_db, said):
    world = a_world()
    where = {"board_id": world.board, "column_id": world.queue}
    for _ in range(5):
        world.add("A card")
    complete(world.worker, **receipt(world.claim()), output=None)
    world.set(max_attempts=1)
    fail(world.worker, **receipt(failed := world.claim()), reason="no")
    requeue(world.owner, card_id=failed.card.id)
    release(world.worker, **receipt(world.claim()))
    revoke(world.owner, lease_id=world.claim().lease.id)
    lapse(world.claim())
    reap()
    pause.pause(world.owner, **where, reason="")
    pause.resume(world.owner, **where)
    card = world.add("Another")
    add_comment(world.owner, card_id=card, text="Hm")
    edit_card(world.owner, card_id=card, priority=1)
    archive_card(world.owner, card_id=card)
    restore_card(world.owner, card_id=card)
    rows = list(Event.objects.all())
    assert len({row.type for row in rows}) > 14
    for row in rows:
        wanted = Nudge(row.workspace_id)
        if row.type not in DULL:
            wanted = Nudge(row.workspace_id, row.board_id, row.card_id)
        assert wanted in said, row.type


def test_dull_are_events_that_there_are():
    assert set(DULL) < {value for name, value in vars(events).items() if name.isupper()}


def test_nothing_is_said_of_what_is_rolled_back(transactional_db, said):
    with transaction.atomic():
        nudge(WORDS[0])
        assert said == []
        transaction.set_rollback(True)
    assert said == []
    with transaction.atomic():
        nudge(WORDS[1])
    assert said == [WORDS[1]]


def test_a_redis_that_never_answers_holds_up_nobody(settings, sender, monkeypatch):
    monkeypatch.setattr(nudges, "TIMEOUT_SECONDS", 30.0)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        settings.REDIS_URL = f"redis://127.0.0.1:{deaf.getsockname()[1]}"
        # Were one of them to wait for Redis, this would take days.
        for _ in range(4 * MOST_HELD):
            nudges._put(WORDS)
        assert len(sender.held) <= MOST_HELD


def test_where_redis_is_gone_it_is_left_alone_for_a_while(settings, sender):
    settings.REDIS_URL = "redis://127.0.0.1:1"
    nudges._put(WORDS)
    until(lambda: sender.rests_until > 0)
    sender.rests_until = monotonic() + 1000
    nudges._put(WORDS)
    assert not sender.held


def test_too_much_is_told_as_anything_anywhere(sender):
    sender.held.extend([WORDS[0]] * MOST_TOLD)
    assert sender._taken() == [WORDS[0]]
    sender.held.extend(Nudge(uuid4()) for _ in range(MOST_TOLD + 1))
    assert sender._taken() is None
    sender.held.extend(WORDS[:1] * MOST_HELD * 2)
    assert sender._taken() is None


def test_who_listens_hears_and_after_a_break_looks_everywhere(sender):
    ear, heard, ready = Ear(), [], threading.Event()

    def listener(told):
        heard.append(told)
        ready.set()

    ear.listen(listener)
    # At the beginning anything may have been missed.
    assert ready.wait(30)
    assert heard == [None]
    nudges._put(WORDS)
    until(lambda: set(WORDS) <= {one for told in heard for one in told or ()})
    client = nudges.connected(timeout_seconds=5)
    client.client_kill_filter(_type="pubsub")
    client.close()
    until(lambda: heard.count(None) > 1)
    ear.ignore(listener)


def test_the_ear_ends_when_nobody_listens(monkeypatch):
    monkeypatch.setattr(hearing, "LINGER_SECONDS", 0.0)
    ear = Ear()
    ear.listen(print)
    assert ear._thread is not None
    ear.ignore(print)
    until(lambda: ear._thread is None)
