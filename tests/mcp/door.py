"""Ask the MCP door as a client does, and hold every answer to the tool's own schema."""

import json
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any

import jsonschema
from django.http import HttpResponse
from django.test import Client

from novum.mcp.server import TOOLS
from tests.doors.recipes import as_json

PATH = "/v1/mcp"
MODERN, LEGACY = "2026-07-28", "2025-11-25"
REVISIONS = (MODERN, LEGACY)
_numbers = count(1)


@dataclass
class Told:
    """What a tool answered: its structured value, or an error's JSON."""

    is_error: bool
    value: Any
    text: str

    @property
    def code(self) -> str:
        return self.value["code"] if self.is_error else ""


@dataclass
class Mcp:
    token: str = ""
    revision: str = MODERN
    client: Client = field(
        default_factory=lambda: Client(
            raise_request_exception=False, enforce_csrf_checks=True
        )
    )

    def post(self, raw: Any, **headers: str | None) -> HttpResponse:
        """Any body; headers by name with underscores, None leaves one out."""
        given = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": self.revision,
        }
        if self.token:
            given["Authorization"] = f"Bearer {self.token}"
        given |= {name.replace("_", "-"): each for name, each in headers.items()}
        kind = given.pop("Content-Type")
        body = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
        return self.client.generic(
            "POST",
            PATH,
            body,
            kind or "",
            headers={name: each for name, each in given.items() if each is not None},
        )

    def message(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self.revision == MODERN:
            meta = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            params = {**params, "_meta": meta}
        return {
            "jsonrpc": "2.0",
            "id": next(_numbers),
            "method": method,
            "params": params,
        }

    def send(self, method: str, /, **params: Any) -> HttpResponse:
        headers: dict[str, str | None] = {}
        if self.revision == MODERN:
            headers["Mcp_Method"] = method
            if "name" in params:
                headers["Mcp_Name"] = params["name"]
        return self.post(self.message(method, params), **headers)

    def rpc(self, method: str, /, **params: Any) -> dict[str, Any]:
        """The whole JSON-RPC answer."""
        answer = self.send(method, **params)
        assert answer.headers["Content-Type"] == "application/json", answer.content
        told: dict[str, Any] = answer.json()
        assert told["jsonrpc"] == "2.0"
        return told

    def call(self, tool: str, /, **arguments: Any) -> Told:
        told = self.rpc("tools/call", name=tool, arguments=as_json(arguments))
        return told_by(tool, told["result"])

    def tools(self) -> list[dict[str, Any]]:
        tools: list[dict[str, Any]] = self.rpc("tools/list")["result"]["tools"]
        return tools


def told_by(tool: str, result: dict[str, Any]) -> Told:
    text = "".join(each["text"] for each in result["content"])
    if result["isError"]:
        told = Told(True, json.loads(text), text)
        assert {"code", "detail", "next_step"} <= told.value.keys(), text
        assert all(told.value.values()), text
        return told
    value = result.get("structuredContent")
    if (schema := schema_of(tool)) is not None:
        assert json.loads(text) == value
        errors = [
            f"{error.json_path}: {error.message}" for error in schema.iter_errors(value)
        ]
        assert not errors, errors
    return Told(False, value, text)


@cache
def schema_of(tool: str) -> jsonschema.Draft202012Validator | None:
    (found,) = [each for each in TOOLS if each.operation.name == tool]
    schema = found.definition().get("outputSchema")
    return jsonschema.Draft202012Validator(schema) if schema else None
