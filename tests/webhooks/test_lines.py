"""Connections that are used for several requests, and when they aren't."""

import asyncio
from contextlib import suppress

import pytest

from tests.webhooks.receivers import Handler, receiving
from webhooks.sending import lines as keeping
from webhooks.sending.lines import Lines
from webhooks.sending.post import post


class Caller:
    """Notes by which connection each request came."""

    def __init__(self, behave=lambda handler: handler.answer()):
        self.behave, self.callers = behave, []

    def __call__(self, handler):
        self.callers.append(handler.client_address)
        self.behave(handler)


@pytest.fixture(autouse=True)
def modern(monkeypatch):
    """Receivers that keep connections open."""
    monkeypatch.setattr(Handler, "protocol_version", "HTTP/1.1")


def in_turn(url, number, before_each=lambda: None):
    async def run():
        lines, answers = Lines(), []
        for _ in range(number):
            before_each()
            answers.append(await post(url, [], b"{}", lines=lines))
            # Time for an end of the connection to arrive.
            await asyncio.sleep(0.05)
        free = sum(map(len, lines._free.values()))
        lines.close()
        return [one.status or one.problem for one in answers], free

    return asyncio.run(run())


def connections_of(behaviour, number=3, **more):
    caller = Caller(behaviour)
    with receiving(caller) as receiver:
        answers, free = in_turn(receiver.url, number, **more)
        assert len(receiver.got) == number
    return answers, len(set(caller.callers)), free


def test_one_connection_serves_several_requests():
    assert connections_of(lambda one: one.answer()) == ([200] * 3, 1, 1)


def test_whatever_the_status_if_the_answer_is_whole():
    assert connections_of(lambda one: one.answer(500)) == ([500] * 3, 1, 1)


def test_a_receiver_that_says_close_is_called_anew():
    def behaviour(handler):
        handler.answer(200, Connection="close")

    assert connections_of(behaviour) == ([200] * 3, 3, 0)


def test_a_receiver_that_just_hangs_up_is_called_anew_and_told_once():
    def behaviour(handler):
        handler.answer()
        handler.close_connection = True

    answers, connections, _ = connections_of(behaviour)
    assert (answers, connections) == ([200] * 3, 3)


def test_one_that_hangs_up_as_we_write_is_called_anew():
    """It took the second request, and answered nothing: whether it has read it, nobody
    knows, so it gets it once more."""
    seen = set()

    def behaviour(handler):
        is_new = handler.client_address not in seen
        seen.add(handler.client_address)
        if is_new:
            handler.answer()
        else:
            handler.close_connection = True

    caller = Caller(behaviour)
    with receiving(caller) as receiver:
        answers, _ = in_turn(receiver.url, 2)
    assert answers == [200, 200]
    first, second, third = caller.callers
    assert first == second != third


def test_more_than_an_answer_is_nobodys_answer():
    """Else what a receiver says too much would answer the next request."""

    def behaviour(handler):
        asked = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        handler.wfile.write(asked + b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")

    answers, connections, _ = connections_of(behaviour)
    assert (answers, connections) == ([200] * 3, 3)


def test_a_long_answer_is_not_read_to_its_end():
    def behaviour(handler):
        with suppress(OSError):
            handler.answer(200, b"x" * 1_000_000)

    answers, connections, free = connections_of(behaviour)
    assert (answers, connections, free) == ([200] * 3, 3, 0)


@pytest.mark.parametrize("limit", ["IDLE_SECONDS", "AGE_SECONDS"])
def test_none_is_kept_for_long(monkeypatch, limit):
    monkeypatch.setattr(keeping, limit, 0.0)
    answers, connections, _ = connections_of(lambda one: one.answer())
    assert (answers, connections) == ([200] * 3, 3)


def test_what_nobody_takes_is_dropped(monkeypatch):
    async def run(url):
        lines = Lines()
        await post(url, [], b"{}", lines=lines)
        lines.tidy()
        assert len(lines._free) == 1
        monkeypatch.setattr(keeping, "IDLE_SECONDS", 0.0)
        lines.tidy()
        assert not lines._free

    with receiving() as receiver:
        asyncio.run(run(receiver.url))
