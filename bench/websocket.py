"""The least of a WebSocket client (RFC 6455): it listens, and answers pings.

Two hundred of them share a processor with what is measured, so nothing is decoded.
"""

import asyncio
import base64
import os
import struct
from dataclasses import dataclass

from bench.load import LoadError

_TEXT, _CLOSE, _PING = 0x1, 0x8, 0x9
_LAST, _MASKED = 0x80, 0x80
# Frames may be long; nobody here is short of memory.
_BUFFER_BYTES = 1 << 22


@dataclass(frozen=True)
class Socket:
    """An open one; made by `connect`."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def hear(self) -> bytes | None:
        """The next text, undecoded; None when it is over."""
        try:
            while True:
                kind, payload = await self._frame()
                if kind == _TEXT:
                    return payload
                if kind == _CLOSE:
                    return None
                if kind == _PING:
                    self.writer.write(_pong(payload))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    def drop(self) -> None:
        """As when a network is gone: without a word."""
        self.writer.transport.abort()

    async def _frame(self) -> tuple[int, bytes]:
        first, length = await self.reader.readexactly(2)
        if not first & _LAST:
            raise LoadError("A frame in several parts, which nobody sends here.")
        if length == 126:
            (length,) = struct.unpack("!H", await self.reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await self.reader.readexactly(8))
        return first & 0x0F, await self.reader.readexactly(length)


async def connect(address: tuple[str, int], path: str, cookie: str) -> Socket:
    """Raises LoadError where the server won't have it."""
    host, port = address
    reader, writer = await asyncio.open_connection(host, port, limit=_BUFFER_BYTES)
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        (
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Version: 13\r\nOrigin: http://{host}:{port}\r\n"
            f"Cookie: {cookie}\r\n\r\n"
        ).encode()
    )
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 101 "):
        raise LoadError(f"No socket: {head[:100]!r}")
    return Socket(reader, writer)


def _pong(payload: bytes) -> bytes:
    """Masked, as all that a client says must be; with zeros nothing changes."""
    return bytes([_LAST | 0xA, _MASKED | len(payload)]) + bytes(4) + payload
