"""Every operation is a tool, derived from its declaration, and says of itself what holds."""

import re

import jsonschema
import pytest
from django.test import Client

from novum.mcp.server import INSTRUCTIONS, TOOLS
from novum.mcp.telling import MAX_DESCRIPTION, describe
from novum.operations.advice import NEXT_STEPS
from novum.operations.registry import OPERATIONS
from tests.connections import undone
from tests.doors.http import door_of, token_of
from tests.doors.principals import forget, stored
from tests.doors.recipes import RECIPES, as_json, sent
from tests.mcp.door import Mcp

# SEP-986, in both revisions.
NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
each_operation = pytest.mark.parametrize(
    "operation", OPERATIONS, ids=lambda operation: operation.name
)


def definition(name):
    (tool,) = [tool for tool in TOOLS if tool.operation.name == name]
    return tool.definition()


def test_every_operation_is_a_tool_in_the_same_order(owner):
    tools = owner.tools()
    assert [tool["name"] for tool in tools] == [one.name for one in OPERATIONS]
    assert owner.tools() == tools


def test_the_manifest_lists_the_same_as_plain_json_to_everybody(owner):
    answer = Client().get("/v1/mcp/manifest")
    assert answer.headers["Content-Type"] == "application/json"
    manifest = answer.json()
    assert manifest["tools"] == owner.tools()
    assert manifest["path"] == "/v1/mcp"
    assert manifest["protocol_versions"][:2] == ["2026-07-28", "2025-11-25"]
    assert Client().post("/v1/mcp/manifest").status_code == 405


def test_a_list_holds_what_the_token_may_do(world, revision):
    door = Mcp(token_of(world.worker, ["read", "work"]), revision)
    wanted = [one.name for one in OPERATIONS if one.scope in ("read", "work")]
    assert [tool["name"] for tool in door.tools()] == wanted
    told = door.call("create_card", title="No.", board_id=1, column_id=1)
    assert told.code == "forbidden"
    assert told.value["current"] == {"needs": "write"}


def test_the_instructions_are_short_and_name_the_loop(owner):
    assert len(INSTRUCTIONS) <= 1200
    for name in ("claim_next_card", "renew_lease", "complete_lease", "fail_lease"):
        assert name in INSTRUCTIONS
    assert "lease_lost" in INSTRUCTIONS
    assert owner.rpc("server/discover")["result"]["instructions"] == INSTRUCTIONS


@each_operation
def test_a_tool_is_described_in_full_and_in_short(operation):
    tool = definition(operation.name)
    assert NAME.fullmatch(tool["name"])
    text = tool["description"]
    assert len(text) < MAX_DESCRIPTION, text
    assert text.startswith(operation.summary)
    assert f"scope {operation.scope}" in text
    for code in operation.errors:
        step = NEXT_STEPS[code]
        assert f"On {code}: {step[0].lower()}{step[1:]}" in text
    assert set(tool["annotations"]) == HINTS
    assert all(isinstance(hint, bool) for hint in tool["annotations"].values())


@each_operation
def test_its_schemas_are_schemas_and_hold_the_doors_own_arguments(operation):
    tool = definition(operation.name)
    validator = jsonschema.Draft202012Validator
    validator.check_schema(tool["inputSchema"])
    validator.check_schema(tool.get("outputSchema", {}))
    for schema in tool["inputSchema"], tool.get("outputSchema", {"type": "object"}):
        assert schema["type"] == "object"
    own = set(tool["inputSchema"]["properties"])
    assert ("verbose" in own) == (operation.output is not None)
    assert ("idempotency_key" in own) == (operation.remembers is not None)


@each_operation
def test_it_works_slim_and_verbose_with_what_its_schema_takes(world, operation):
    """`tests.mcp.door` holds each answer to the tool's output schema; the official
    client does so in both revisions (tests/mcp/served)."""
    door = Mcp(token_of(world.owner))
    takes = jsonschema.Draft202012Validator(definition(operation.name)["inputSchema"])
    for more in {}, {"verbose": True}:
        if more and operation.output is None:
            continue
        with undone():
            arguments = RECIPES[operation.name](world, world.owner) | more
            takes.validate(as_json(arguments))
            assert not takes.is_valid({**as_json(arguments), "nonsense": 1})
            told = door.call(operation.name, **arguments)
            assert not told.is_error, told.text
        forget()


@pytest.mark.parametrize(
    "operation",
    [one for one in OPERATIONS if not one.changes],
    ids=lambda operation: operation.name,
)
def test_verbose_is_word_for_word_what_rest_answers(world, operation):
    call = sent(operation, world, world.owner)
    # Both tokens first: one's own tokens may be what is asked for.
    door, mcp = door_of(world.owner), Mcp(token_of(world.owner))
    rest = call.by(door, operation).json()
    rest = {"items": rest} if isinstance(rest, list) else rest
    told = mcp.call(operation.name, **call.values, verbose=True)
    for answer in rest, told.value:
        answer.pop("server_time", None)
        answer.pop("token_id", None)
        for item in answer.get("items", []):
            item.pop("last_used_at", None)
            # The doctor counts what the machine changes between two looks.
            if operation.name == "list_findings":
                item["what"] = re.sub(r"[+-]?\d+(\.\d+)?", "…", item["what"])
    assert told.value == rest


@each_operation
def test_its_hints_are_true(world, operation):
    """What says that it only reads changes no row; what says that it may be repeated
    changes none the second time."""
    hints = definition(operation.name)["annotations"]
    door = Mcp(token_of(world.owner))
    arguments = RECIPES[operation.name](world, world.owner)
    before = stored()
    assert not door.call(operation.name, **arguments).is_error
    after = stored()
    if hints["readOnlyHint"]:
        assert after == before
    if hints["idempotentHint"]:
        again = door.call(operation.name, **arguments)
        assert stored() == after, again.text


def test_only_what_sends_something_out_touches_other_systems():
    reaching = {
        tool.operation.name
        for tool in TOOLS
        if tool.definition()["annotations"]["openWorldHint"]
    }
    assert reaching == {
        "test_webhook_endpoint",
        "resend_webhook",
        "resend_failed_webhooks",
    }


def test_what_takes_something_away_says_so():
    for tool in TOOLS:
        hints = tool.definition()["annotations"]
        assert not (hints["readOnlyHint"] and hints["destructiveHint"])
        if tool.operation.name.startswith(("delete_", "revoke_", "archive_", "stop_")):
            assert hints["destructiveHint"]


def test_advice_is_given_for_every_code_of_an_operation():
    codes = {code for operation in OPERATIONS for code in operation.errors}
    assert codes <= NEXT_STEPS.keys()


def test_what_is_described_is_the_same_for_two_doors():
    """The description comes from the declaration alone."""
    for operation in OPERATIONS:
        assert describe(operation) == definition(operation.name)["description"]
