#!/usr/bin/env python3
"""Any agent with a command line as a worker of a queue.

    pip install ./novum_client
    NOVUM_URL=… NOVUM_TOKEN=… examples/agent_worker.py drafting -- claude -p

The command gets the card as a prompt on its standard input, and what it prints is the
result. Its lines on standard error are shown on the board. Exit code 75 means: try again
later. When the card is lost or called off, or the worker is stopped, so is the command.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from contextlib import suppress

from novum_client import Job, Retry, worker

TRY_AGAIN = 75  # sysexits.h
LAST_WORDS = 20


def prompt(job: Job) -> bytes:
    parts = [f"# {job.title}", job.description]
    if job.payload is not None:
        parts.append(f"Input: {job.payload}")
    if job.attempt > 1:
        tries = job.card.get("previous_attempts") or [{"reason": job.card.get("error")}]
        parts.append(f"An earlier attempt failed: {tries[0]['reason']}")
    return "\n\n".join(part for part in parts if part).encode()


async def told(process: asyncio.subprocess.Process, job: Job) -> list[str]:
    """Shows each line of standard error, and keeps the last ones."""
    lines: list[str] = []
    assert process.stderr
    async for line in process.stderr:
        text = line.decode(errors="replace").strip()
        if text:
            job.progress(text)
            lines = [*lines, text][-LAST_WORDS:]
    return lines


async def run(command: list[str], job: Job) -> str:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    assert process.stdin
    assert process.stdout
    try:
        with suppress(ConnectionError):
            process.stdin.write(prompt(job))
            await process.stdin.drain()
        process.stdin.close()
        output, errors = await asyncio.gather(process.stdout.read(), told(process, job))
        code = await process.wait()
    finally:
        # Cancelled: whatever it has started goes, too.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if code:
        reason = "\n".join(errors) or f"Exit code {code}."
        raise Retry(reason) if code == TRY_AGAIN else RuntimeError(reason)
    return output.decode(errors="replace").strip()


def main() -> None:
    parser = argparse.ArgumentParser(description="Any command as a worker.")
    parser.add_argument("queue")
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("command", nargs="+", metavar="-- COMMAND")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)

    @worker(queue=given.queue, concurrency=given.concurrency)
    async def agent(job: Job) -> dict[str, str]:
        return {"text": await run(given.command, job)}

    agent.run()


if __name__ == "__main__":
    main()
