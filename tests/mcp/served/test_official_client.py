"""The official client in both revisions against the running server.

It checks every structured answer against the tool's output schema by itself.
"""

import asyncio
from functools import partial

import httpx2
import pytest
from mcp import MCPError

from boards.models import Card
from novum.operations.registry import OPERATIONS
from tests.builders import a_world
from tests.doors.http import token_of
from tests.doors.recipes import RECIPES
from tests.mcp.served.official import MODES, call, connected, talk, use


@pytest.fixture(params=MODES)
def revision(request) -> str:
    return request.param


def mine(claim):
    return {"lease_id": claim["lease"]["id"], "lease_token": claim["lease_token"]}


def test_it_connects_and_lists_every_tool(server, world, revision):
    async def say(client):
        return client.protocol_version, client.instructions, await client.list_tools()

    version, instructions, listed = talk(server, token_of(world.owner), revision, say)
    assert version == revision
    assert "claim_next_card" in instructions
    assert [tool.name for tool in listed.tools] == [one.name for one in OPERATIONS]
    assert all(tool.annotations.read_only_hint is not None for tool in listed.tools)


def test_it_can_call_every_tool(server, world, revision):
    """One session whose token changes: each tool has a workspace of its own."""
    first = token_of(world.owner)
    calls = []
    for operation in OPERATIONS:
        own = a_world()
        arguments = RECIPES[operation.name](own, own.owner)
        calls.append((operation.name, arguments, token_of(own.owner)))

    async def call_all():
        http = httpx2.AsyncClient(timeout=30)
        async with connected(server, first, revision, http=http) as client:
            for tool, arguments, token in calls:
                use(http, token)
                told = await call(client, tool, **arguments)
                assert "error" not in told, (tool, told)

    asyncio.run(call_all())


def test_a_card_goes_from_claim_to_done(server, world, revision):
    card = world.add("Draft it")
    world.set(output_schema={"type": "object", "required": ["words"]})
    queue = {"board_id": world.board, "column_id": world.queue}

    async def say(client):
        claim = await call(client, "claim_next_card", **queue)
        assert claim["card"]["title"] == "Draft it"
        renewed = await call(client, "renew_lease", **mine(claim))
        assert renewed["cancel_requested"] is False
        refused = await call(client, "complete_lease", **mine(claim), output={})
        assert refused["error"]["code"] == "output_rejected"
        ended = await call(client, "complete_lease", **mine(claim), output={"words": 9})
        assert ended["lease"]["state"] == "completed"
        again = await call(client, "complete_lease", **mine(claim), output={"words": 9})
        assert again["replayed"] is True
        lost = await call(client, "fail_lease", **mine(claim))
        assert lost["error"]["code"] == "lease_lost"
        empty = await call(client, "claim_next_card", **queue)
        assert empty["reason"] == "drained"
        assert "card" not in empty

    talk(server, token_of(world.worker), revision, say)
    row = Card.objects.get(pk=card)
    assert (row.state, row.output) == ("done", {"words": 9})


def test_an_unknown_tool_is_an_error_of_the_protocol(server, world, revision):
    async def say(client):
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("claim_my_card", {})

    talk(server, token_of(world.worker), revision, say)


def test_without_a_token_it_does_not_connect(server, world, revision):
    async def say(client):
        return await client.list_tools()

    with pytest.RaisesGroup(MCPError, flatten_subgroups=True):
        talk(server, "nvma_wrong", revision, say)


def test_a_lost_answer_is_had_again_by_its_key(server, world, revision):
    world.add_many(2)
    token = token_of(world.worker)
    queue = {"board_id": world.board, "column_id": world.queue}

    async def say(client):
        return await call(client, "claim_next_card", **queue, idempotency_key="one")

    first, again = (talk(server, token, revision, say) for _ in range(2))
    assert again["replayed"] is True
    assert mine(first) == mine(again)


def test_a_restart_between_claim_and_complete_is_invisible(server, world, revision):
    """The same session of the client goes on, and so does the lease."""
    world.add()
    queue = {"board_id": world.board, "column_id": world.queue}

    async def say(client):
        claim = await call(client, "claim_next_card", **queue)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        renewed = await call(client, "renew_lease", **mine(claim))
        assert renewed["expires_at"] > claim["lease"]["expires_at"]
        return await call(client, "complete_lease", **mine(claim), output="Done.")

    ended = talk(server, token_of(world.worker), revision, say)
    assert ended["lease"]["state"] == "completed"


def test_sessions_may_change_with_every_call(server, world, revision):
    """Two web processes, a connection for each call: nothing is kept in one of them."""
    world.add_many(4)
    token = token_of(world.worker)
    queue = {"board_id": world.board, "column_id": world.queue}
    for _ in range(4):
        claiming = partial(call, tool="claim_next_card", **queue)
        claim = talk(server, token, revision, claiming)
        ending = partial(call, tool="complete_lease", **mine(claim))
        ended = talk(server, token, revision, ending)
        assert ended["lease"]["state"] == "completed"


def test_rest_and_mcp_workers_drain_one_queue_together(
    server, world, fleet, queue, tokens
):
    """Nobody gets a card that somebody else has: every card is done once."""
    number = 240
    world.add_many(number)
    there = {"board_id": world.board, "column_id": world.queue}

    async def drain(token, revision, everybody):
        done = []
        async with connected(server, token, revision) as client:
            while "card" in (claim := await call(client, "claim_next_card", **there)):
                # Everybody has one before the race begins, however fast the others are.
                if not done and await everybody.wait() == 0:
                    for process in others:
                        process.tell("drain", queue=queue)
                ended = await call(client, "complete_lease", **mine(claim), output="m")
                assert ended["lease"]["state"] == "completed"
                done.append(claim["card"]["id"])
        return done

    async def by_mcp(mine):
        modes = list(MODES) * 2
        everybody = asyncio.Barrier(len(modes))
        async with asyncio.TaskGroup() as group:
            jobs = [
                group.create_task(drain(token, revision, everybody))
                for token, revision in zip(mine, modes, strict=True)
            ]
        return [job.result() for job in jobs]

    others = fleet(4).processes
    lists = asyncio.run(by_mcp(tokens(4)))
    rest = [process.hear() for process in others]
    by_mcp_done = [card for one in lists for card in one]
    assert len(set(by_mcp_done)) == len(by_mcp_done) > 0
    assert len(by_mcp_done) + sum(rest) == number
    states = Card.objects.filter(column_id=world.done).values_list("state", "attempts")
    assert set(states) == {("done", 1)}
