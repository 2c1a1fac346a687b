"""A process's turns at the work: few at once, each with a connection that it keeps."""

from threading import Event, Thread

import pytest
from django.db import ProgrammingError, connection, connections

from novum import turns as module
from novum.turns import Turns, set_aside

LONG = 30


@pytest.fixture
def turns(monkeypatch):
    """One turn, for which everybody has all patience."""
    monkeypatch.setattr(module, "PATIENCE_SECONDS", LONG)
    turns = Turns(1)
    yield turns
    turns._free.get(timeout=LONG).connection.close()


@pytest.fixture
def beside():
    """Runs what it's given in a thread that has ended when the test ends."""
    threads = []

    def beside(work):
        threads.append(Thread(target=work))
        threads[-1].start()
        return threads[-1]

    yield beside
    for one in threads:
        one.join(LONG)
        assert not one.is_alive()


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def test_the_next_gets_the_turn_when_one_ends(turns, beside):
    seen, is_there, is_over = [], Event(), Event()

    def other():
        is_there.set()
        with turns.one():
            seen.append((connections["default"], is_over.is_set()))

    with turns.one():
        mine = connections["default"]
        thread = beside(other)
        assert is_there.wait(LONG)
        is_over.set()
    thread.join(LONG)
    assert seen == [(mine, True)]


def test_who_waits_holds_no_turn(turns, beside):
    is_done = Event()

    def other():
        with turns.one():
            is_done.set()

    with turns.one():
        mine = connections["default"]
        beside(other)
        with set_aside():
            assert is_done.wait(LONG)
            assert connections["default"] is not mine
        assert connections["default"] is mine


def test_patience_ends_without_a_turn(turns, beside, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.01)
    found, is_done = [], Event()

    def other():
        with turns.one():
            found.append(connections["default"])
        is_done.set()

    with turns.one():
        beside(other)
        assert is_done.wait(LONG)
        assert found[0] is not connections["default"]


def test_a_fault_gives_the_turn_back(turns):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), turns.one():
            raise ZeroDivisionError


@pytest.mark.django_db
def test_a_transaction_goes_on(turns):
    mine = connections["default"]
    with turns.one():
        assert connections["default"] is mine


@pytest.mark.django_db(transaction=True)
def test_a_turn_keeps_its_connection_which_is_like_any_other(turns):
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, setting FROM pg_settings ORDER BY name")
        wanted = cursor.fetchall()
    own = backend()
    mine = connections["default"]
    with turns.one():
        standing = backend()
        with connection.cursor() as cursor:
            cursor.execute("SELECT name, setting FROM pg_settings ORDER BY name")
            assert cursor.fetchall() == wanted
    with turns.one():
        assert backend() == standing != own
    assert connections["default"] is mine


@pytest.mark.django_db(transaction=True)
def test_a_statement_that_fails_spoils_nothing(turns):
    with turns.one(), pytest.raises(ProgrammingError), connection.cursor() as cursor:
        cursor.execute("SELECT nothing")
    with turns.one():
        assert backend()


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_server_ended_is_opened_anew(turns, monkeypatch):
    monkeypatch.setattr(module, "_IDLE_SECONDS", -1)
    with turns.one():
        ended = backend()
    with connection.cursor() as cursor:
        # It has gone when this says so, its goodbye sent.
        cursor.execute("SELECT pg_terminate_backend(%s, 30000)", [ended])
        assert cursor.fetchone()[0]
    with turns.one():
        assert backend() != ended
