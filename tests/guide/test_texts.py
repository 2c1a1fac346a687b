"""What the server says of itself is true: addresses, fields, operations, errors."""

import json
import re

import jsonschema
import pytest
from django.test import Client
from django.urls import resolve

from novum.guide.views import LOOP
from novum.mcp.server import TOOLS
from novum.operations.advice import NEXT_STEPS
from novum.operations.registry import OPERATIONS
from tests.doors.http import door_of
from tests.guide.stranger import BRACES, Stranger, look_up

ID = "01900000-0000-7000-8000-000000000000"
URL = re.compile(r"https?://[^\s`)>|]+")


@pytest.fixture(autouse=True)
def address(settings) -> str:
    settings.NOVUM_URL = "https://novum.example.org"
    return settings.NOVUM_URL


def read(path) -> str:
    answer = Client().get(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].endswith("charset=utf-8")
    return answer.content.decode()


@pytest.mark.parametrize("path", ["/llms.txt", "/v1/agents.md"])
def test_every_address_in_it_is_this_servers_and_leads_somewhere(db, path, address):
    text = read(path)
    urls = [url.rstrip(".,:") for url in URL.findall(text)]
    assert urls
    for url in urls:
        assert url.startswith(address), url
        if place := BRACES.sub(ID, url.removeprefix(address)):
            assert resolve(place)
    for left in ("{%", "{{", "&amp;", "&#x27;", "None"):
        assert left not in text


def test_it_is_short_enough_to_read_whole(db):
    assert len(read("/llms.txt")) < 5_000
    assert read("/llms.txt").startswith("# Novum\n\n> ")


def test_the_full_text_names_every_operation_and_every_error(db):
    text = read("/v1/agents.md")
    for operation in OPERATIONS:
        assert f"- `{operation.name}`: `{operation.method} /v1{operation.path}`" in text
    for code, step in NEXT_STEPS.items():
        assert f"| `{code}` | {step} |" in text


def test_what_the_loop_sends_fits_the_operations(db):
    stranger = Stranger.__new__(Stranger)
    steps = dict(stranger.find_steps(read("/llms.txt")))
    assert set(steps) >= {"boards", "columns", "claim", "renew", "complete", "fail"}
    schemas = {tool.operation.name: tool.definition()["inputSchema"] for tool in TOOLS}
    for word, (method, _, body) in steps.items():
        (operation,) = [one for one in OPERATIONS if one.name == LOOP[word]]
        assert method == operation.method
        in_path = dict.fromkeys(re.findall(r"{(\w+)}", operation.path), ID)
        given = json.loads(body or "{}")
        jsonschema.validate({**given, **in_path}, schemas[operation.name])


def test_what_the_braces_name_is_in_the_answers(world):
    world.add()
    door = door_of(world.worker)
    board = door.get("/v1/boards").json()["items"][0]
    columns = door.get(f"/v1/boards/{board['id']}/columns").json()["items"]
    column = next(one for one in columns if one["is_queue"])
    path = f"/v1/boards/{board['id']}/columns/{column['id']}:claim-next"
    known = {"board": board, "column": column, "claim": door.post(path).json()}
    names = set(BRACES.findall(read("/llms.txt"))) - {"result", "why"}
    assert names == {
        "board.id",
        "column.id",
        "claim.lease.id",
        "claim.lease_token",
    }
    for name in names:
        assert look_up(known, name)


def test_only_reading_is_possible(db):
    assert Client().post("/llms.txt").status_code == 405
    assert Client().head("/v1/agents.md").status_code == 200
