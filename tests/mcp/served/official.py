"""The official SDK's client, as an agent's program would use it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.doors.recipes import as_json
from tests.processes.fixtures import Server

# What the client calls the two ways to begin: by discovery, and by a handshake.
MODES = {"2026-07-28": "auto", "2025-11-25": "legacy"}


@asynccontextmanager
async def connected(
    server: Server, token: str, revision: str, *, http: httpx2.AsyncClient | None = None
) -> AsyncIterator[Client]:
    """`http` may be the caller's own, to change its token later."""
    host, port = server.address
    async with http or httpx2.AsyncClient(timeout=30) as http:
        use(http, token)
        transport = streamable_http_client(
            f"http://{host}:{port}/v1/mcp", http_client=http
        )
        async with Client(transport, mode=MODES[revision]) as client:
            yield client


def use(http: httpx2.AsyncClient, token: str) -> None:
    http.headers["Authorization"] = f"Bearer {token}"


def talk(
    server: Server,
    token: str,
    revision: str,
    say: Callable[[Client], Awaitable[Any]],
) -> Any:
    """What `say` comes to, with a client of its own."""

    async def run() -> Any:
        async with connected(server, token, revision) as client:
            return await say(client)

    return asyncio.run(run())


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """A tool's value; the error's JSON under `error`."""
    result = await client.call_tool(tool, as_json(arguments))
    (content,) = result.content
    if result.is_error:
        return {"error": json.loads(content.text)}
    return result.structured_content or {"text": content.text}
