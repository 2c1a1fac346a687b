#!/usr/bin/env python3
"""The loop by MCP, with the official client: what an agent does by itself, as a program.

pip install mcp
NOVUM_URL=… NOVUM_TOKEN=… examples/mcp_worker.py reports
"""

import asyncio
import json
import os
import sys
import uuid

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

LEASE_SECONDS = 30


class Refused(Exception):
    """A tool said no: `code` is stable, `next_step` says what to do."""

    def __init__(self, problem):
        super().__init__(f"{problem['code']}: {problem['detail']}")
        self.code = problem["code"]


async def call(client, tool, **arguments):
    answer = await client.call_tool(tool, arguments)
    if answer.is_error:
        raise Refused(json.loads(answer.content[0].text))
    return answer.structured_content


async def do_the_work(task):
    """Here an agent would think."""
    await asyncio.sleep(0.1)
    return {"words": len(task["title"].split())}


async def keep(client, proof, work):
    """Heartbeats, at every third of the lease. A lost or called off task is put down."""
    while True:
        await asyncio.sleep(LEASE_SECONDS / 3)
        try:
            renewed = await call(client, "tasks.heartbeat", **proof)
        except Refused:
            renewed = {"cancel_requested": True}
        if renewed.get("cancel_requested"):
            work.cancel()


async def see_to_its_end(client, claim):
    task = claim["task"]
    proof = {"id": task["id"], "lease_token": claim["lease_token"]}
    work = asyncio.create_task(do_the_work(task))
    heart = asyncio.create_task(keep(client, proof, work))
    try:
        (outcome,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(outcome, asyncio.CancelledError):
            await call(client, "tasks.give_back", **proof, note="Called off.")
        elif isinstance(outcome, BaseException):
            await call(client, "tasks.fail", **proof, error=str(outcome), retry=True)
        else:
            await call(client, "tasks.complete", **proof, result=outcome)
            print(task["key"], "done", flush=True)
    except Refused as no:
        # Somebody else has it by now: go on with the next one.
        print(task["key"], no, flush=True)
    finally:
        heart.cancel()


async def main(queue):
    headers = {"Authorization": "Bearer " + os.environ["NOVUM_TOKEN"]}
    address = os.environ["NOVUM_URL"].rstrip("/") + "/v1/mcp"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        while True:
            claim = await call(
                client,
                "tasks.claim",
                queue=queue,
                lease_seconds=LEASE_SECONDS,
                # With it a repeated call gives the same lease again.
                idempotency_key=uuid.uuid4().hex,
            )
            if claim.get("task"):
                await see_to_its_end(client, claim)
            else:
                await asyncio.sleep(min(claim.get("retry_after_seconds") or 1, 3))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
