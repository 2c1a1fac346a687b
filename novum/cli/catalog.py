"""The operations there are, as the server tells, kept for an hour."""

import json
import time
from typing import Any, NamedTuple

from novum.cli.errors import Failure, Unreached, Usage
from novum.cli.places import cache_path, read_json, write_json
from novum.cli.transport import TRIES, Request, Transport

PATH = "/v1/operations.json"
FRESH_SECONDS = 3600.0
# Asking again at once for what was asked a moment ago would change nothing.
SETTLED_SECONDS = 2.0


class Field(NamedTuple):
    """`place` is path, query, header or body; `schema` JSON Schema."""

    name: str
    place: str
    required: bool
    schema: dict[str, Any]


class Operation(NamedTuple):
    """`repeat` is safe, key or not (novum.rest.listing); `patience_seconds` is what the
    answer may take beyond the usual time."""

    name: str
    group: str
    method: str
    path: str
    summary: str
    description: str
    who: str
    repeat: str
    fields: list[Field]
    patience_seconds: int = 0

    def field(self, name: str) -> Field | None:
        return next((one for one in self.fields if one.name == name), None)


class Catalog:
    def __init__(self, transport: Transport, tries: int = TRIES) -> None:
        self._transport, self._tries = transport, tries
        self._path = cache_path(transport.server.url)
        self._kept = _valid(read_json(self._path), transport.server.url)

    def operation(self, name: str) -> Operation:
        """Raises Usage where there is none, after having asked the server again."""
        self.refresh(FRESH_SECONDS)
        if name not in self.names():
            self.refresh_if_settled()
        for each in self._kept["listing"]["operations"]:
            if each["name"] == name:
                return _operation(each)
        raise Usage(f"There is no operation {name}.{meant(name, self.names())}")

    def operations(self) -> list[Operation]:
        self.refresh(FRESH_SECONDS)
        return [_operation(each) for each in self._kept["listing"]["operations"]]

    def remembered(self) -> list[Operation]:
        """Without asking anybody, for completion."""
        return [_operation(each) for each in self._kept["listing"]["operations"]]

    def schema(self, name: str) -> dict[str, Any]:
        """What a field's `$ref` means."""
        found: dict[str, Any] = self._kept["listing"]["schemas"].get(name, {})
        return found

    def names(self) -> list[str]:
        return [each["name"] for each in self._kept["listing"]["operations"]]

    def refresh(self, seconds: float) -> None:
        """Have a list that was true at most so many seconds ago. A server that can't be
        reached leaves the old one."""
        age = time.time() - self._kept["checked_at"]
        if 0 <= age < seconds:
            return
        headers = {"If-None-Match": self._kept["etag"]} if self._kept["etag"] else {}
        request = Request("GET", PATH, headers=headers, may_repeat=True)
        try:
            answer = self._transport.get_done(request, self._tries)
        except Unreached:
            if not self._kept["etag"]:
                raise
            return
        if answer.status != 304:
            self._kept["listing"] = self._checked(answer.body)
            self._kept["etag"] = answer.headers.get("ETag", "")
        self._keep(time.time())

    def refresh_if_settled(self) -> None:
        """For what isn't known here and may be new there."""
        self.refresh(SETTLED_SECONDS)

    def doubt(self) -> None:
        """The server seems to have changed: ask before the next use."""
        self._keep(0.0)

    def _keep(self, at: float) -> None:
        self._kept["checked_at"] = at
        try:
            write_json(self._path, self._kept)
        except OSError:
            # Then it's asked for each time.
            return

    def _checked(self, body: bytes) -> dict[str, Any]:
        try:
            found = json.loads(body)
            fine = bool(found["operations"])
        except (ValueError, KeyError, TypeError):
            fine = False
        if not fine:
            url = self._transport.server.url
            raise Failure(f"{url} is no Novum server: it tells no operations.")
        return dict(found)


def _valid(kept: Any, url: str) -> dict[str, Any]:
    """What a file holds; as good as nothing when it isn't ours."""
    nothing: dict[str, Any] = {"operations": [], "schemas": {}}
    empty = {"url": url, "etag": "", "checked_at": 0.0, "listing": nothing}
    if not isinstance(kept, dict) or kept.keys() != empty.keys() or kept["url"] != url:
        return empty
    return kept


def _operation(each: dict[str, Any]) -> Operation:
    fields = [
        Field(one["name"], one["in"], one["required"], one["schema"])
        for one in each["fields"]
    ]
    names = set(Operation._fields) & each.keys() - {"fields"}
    facts = {name: each[name] for name in names}
    return Operation(fields=fields, **facts)


def meant(name: str, names: list[str]) -> str:
    """` Did you mean …?`, where one is close."""
    # Only a mistake pays for this import.
    from difflib import get_close_matches

    wanted = name.replace("-", "_")
    close = get_close_matches(wanted, names, 1, 0.6)
    return f" Did you mean {close[0]}?" if close else ""
