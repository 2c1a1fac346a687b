"""Boards and files by REST and MCP."""

import base64
import json

import pytest

from novum.mcp import tools
from novum.operations import registry
from tests.builders import a_world
from tests.doors.http import Http, token_of
from tests.transfer.boards import exported
from transfer.document import SCHEMA


@pytest.fixture
def world(db):
    world = a_world()
    world.add("One", payload={"text": "x" * 2_000_000})
    return world


@pytest.fixture
def owner(world):
    return Http(token_of(world.owner))


def test_a_board_longer_than_other_bodies_goes_out_and_in(owner, world, monkeypatch):
    document = exported(world.owner, world.board)
    # Longer than what is held, it's streamed: the client's own check wants it whole.
    monkeypatch.setattr("novum.rest.answering.HELD_BYTES", 10_000_000)
    answer = owner.get(f"/v1/boards/{world.board}/export")
    assert answer.content == document
    assert answer.headers["Content-Disposition"].startswith("attachment")
    made = owner.post("/v1/boards:import", {"document": json.loads(document)})
    assert made.status_code == 201
    assert exported(world.owner, made.json()["board_id"]) == document
    asked = owner.post("/v1/boards:import", {"document": json.loads(document)})
    assert (asked.status_code, asked.json()["code"]) == (409, "already_imported")
    assert asked.json()["current"]["import_id"] == made.json()["import_id"]
    # All other bodies have their limit still.
    large = {"name": "x" * 2_000_000}
    assert owner.post("/v1/boards", large).status_code == 413


def test_what_is_streamed_is_the_same(owner, world):
    answer = owner.client.get(
        f"/v1/boards/{world.board}/export",
        headers={"Authorization": f"Bearer {owner.token}"},
    )
    assert answer.streaming
    content = b"".join(answer.streaming_content)
    assert content == exported(world.owner, world.board)
    assert answer.headers["Content-Length"] == str(len(content))


def test_a_file_is_looked_at_corrected_and_imported(owner, world):
    content = base64.b64encode("Task;Größe\nOne;x\n".encode("cp1252")).decode()
    first = owner.post("/v1/imports:preview", {"base64": content}).json()
    assert (first["encoding"], first["delimiter"]) == ("cp1252", ";")
    assert [one["role"] for one in first["table"]] == ["title", "property"]
    given = {"base64": content, "roles": ["title", "labels"]}
    second = owner.post("/v1/imports:preview", given).json()
    assert second["cards"][0]["labels"] == ["x"]
    made = owner.post("/v1/imports", {"import_id": second["import_id"]})
    assert made.status_code == 201
    assert made.json()["imported"] == 1
    assert owner.get(made.headers["Location"]).json() == made.json()
    card = owner.get("/v1/cards", board_id=made.json()["board_id"]).json()["items"][0]
    assert card["labels"] == ["x"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "invalid"),
        ({"text": "a", "base64": "YQ=="}, "invalid"),
        ({"base64": "no base64"}, "invalid"),
        ({"text": "\x00"}, "nul_character"),
        ({"text": "{"}, "bad_file"),
        ({"base64": base64.b64encode(b"\0\1\2" * 99).decode()}, "bad_file"),
        ({"text": "a", "column_id": "0190a0a0-0000-7000-8000-000000000000"}, "invalid"),
        ({"text": "a", "roles": ["list"]}, "invalid"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_code(owner, given, code):
    refused = owner.post("/v1/imports", given)
    assert refused.status_code == 422
    assert refused.json()["code"] == code


@pytest.mark.parametrize(
    "document",
    [
        {"cards": []},
        {"format": "novum-board", "version": 1},
        {"format": "novum-board", "version": 7, "board": {"name": "x"}},
        {"format": "novum-board", "version": 1, "board": {"name": ""}},
        {
            "format": "novum-board",
            "version": 1,
            "board": {"name": "x"},
            "columns": [{"name": "One"}],
            "cards": [{"column": 1, "title": "x"}],
        },
        {
            "format": "novum-board",
            "version": 1,
            "board": {"name": "x"},
            "columns": [{"name": "One"}],
            "cards": [{"column": 0, "title": "x", "parent": 0}],
        },
        {
            "format": "novum-board",
            "version": 1,
            "board": {"name": "x"},
            "columns": [{"name": "One", "contract": {"queue": "No Name"}}],
        },
    ],
)
def test_a_document_that_is_none_is_refused_and_leaves_nothing(owner, document):
    before = owner.get("/v1/boards").json()["items"]
    refused = owner.post("/v1/boards:import", {"document": document})
    assert refused.status_code == 422
    assert owner.get("/v1/boards").json()["items"] == before


def test_a_tool_tells_small_boards_and_where_to_get_large_ones(world):
    (operation,) = (one for one in registry.OPERATIONS if one.name == "export_board")
    tool = tools.Tool(operation)
    with pytest.raises(Exception, match="too_long_here"):
        ask(tool, world)


def ask(tool, world):
    from django.test import RequestFactory

    request = RequestFactory().post("/v1/mcp")
    request.META["novum.caller"] = world.owner
    return tool(request, {"board_id": str(world.board)})


def test_the_schema_in_the_documents_is_the_one_in_force():
    from pathlib import Path

    path = Path(__file__).parents[2] / "docs" / "novum-board.schema.json"
    assert json.loads(path.read_text()) == SCHEMA
