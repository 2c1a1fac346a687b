"""The load: many keep-alive connections from one process, as cheap as Python allows.

It shares the processors with what it measures, so nothing is parsed that isn't needed:
no HTTP client, no JSON. What is said on a connection is a generator: it yields the
bytes of a request and gets the answer's status and body.
"""

import selectors
import socket
from collections.abc import Generator, Iterable

type Answer = tuple[int, bytes]
type Talk = Generator[bytes, Answer, None]

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"content-length:"
_CHUNK_BYTES = 65_536
_SILENCE_SECONDS = 30.0


class LoadError(Exception):
    """The server answered with something that no measurement should contain."""


def drive(address: tuple[str, int], talks: Iterable[Talk]) -> None:
    """Hold all talks at once, each on a connection of its own, until all have ended.

    Raises LoadError where the server hangs up or says nothing for 30 seconds.
    """
    with selectors.DefaultSelector() as selector:
        for talk in talks:
            line = _Line(address, talk)
            selector.register(line.socket, selectors.EVENT_READ, line)
        while selector.get_map():
            ready = selector.select(_SILENCE_SECONDS)
            if not ready:
                raise LoadError("The server says nothing.")
            for key, _ in ready:
                if not key.data.go_on():
                    selector.unregister(key.fileobj)
                    key.data.socket.close()


class _Line:
    """One connection and what is said on it."""

    __slots__ = ("_received", "_talk", "socket")

    def __init__(self, address: tuple[str, int], talk: Talk) -> None:
        self.socket = socket.create_connection(address, _SILENCE_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._talk = talk
        self._received = b""
        self.socket.sendall(next(talk))

    def go_on(self) -> bool:
        """Take what has come, and say the next thing; False when nothing is left."""
        chunk = self.socket.recv(_CHUNK_BYTES)
        if not chunk:
            raise LoadError("The server hung up.")
        self._received += chunk
        answer = _complete(self._received)
        if answer is None:
            return True
        self._received = b""
        try:
            self.socket.sendall(self._talk.send(answer))
        except StopIteration:
            return False
        return True


def _complete(received: bytes) -> Answer | None:
    """The answer, once all of it is there. There's never more than one under way."""
    end = received.find(_END_OF_HEAD)
    if end < 0:
        return None
    head = received[:end].lower()
    at = head.find(_LENGTH)
    if at < 0:
        raise LoadError(f"No content-length: {head!r}")
    length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0])
    body = received[end + len(_END_OF_HEAD) :]
    if len(body) < length:
        return None
    return int(head[9:12]), body
