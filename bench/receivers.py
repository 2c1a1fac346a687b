"""Receivers of webhooks in a process of their own, as cheap as Python allows.

What they do stands in the path: `/fast/…` answers 200, `/broken/…` 500, `/hanging/…`
never. Like most servers they keep connections open. They note when what came.
"""

import asyncio
import multiprocessing
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

_HEAD = re.compile(
    rb"POST (/[^ ]*) .*?content-length: (\d+)", re.DOTALL | re.IGNORECASE
)
_STAMP = re.compile(rb'"timestamp":"([^"]+)"')
_GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_BAD = b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"

# The path, when it came (seconds since 1970), and the event's own time as text.
type Received = tuple[str, float, str]


@dataclass(frozen=True)
class Receivers:
    port: int
    pipe: Connection

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def told(self) -> list[Received]:
        """All that came since this was asked last."""
        self.pipe.send("tell")
        found: list[Received] = self.pipe.recv()
        return found


@contextmanager
def receivers() -> Iterator[Receivers]:
    here, there = multiprocessing.Pipe()
    fork = multiprocessing.get_context("fork")
    process = fork.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        yield Receivers(here.recv(), here)
    finally:
        process.terminate()
        process.join()


def _serve(pipe: Connection) -> None:
    asyncio.run(_main(pipe))


async def _main(pipe: Connection) -> None:
    got: list[Received] = []

    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                found = _HEAD.match(head)
                assert found
                body = await reader.readexactly(int(found[2]))
                stamp = _STAMP.search(body)
                path = found[1].decode()
                got.append((path, time.time(), stamp[1].decode() if stamp else ""))
                if path.startswith("/hanging"):
                    await reader.read()
                writer.write(_GOOD if path.startswith("/fast") else _BAD)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def tell() -> None:
        pipe.recv()
        pipe.send(list(got))
        got.clear()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=1000)
    pipe.send(server.sockets[0].getsockname()[1])
    asyncio.get_running_loop().add_reader(pipe.fileno(), tell)
    await server.serve_forever()
