"""The doors, all asked in one way: who, which operation, with what.

One more door is one more class with `ask`, in `DOORS`.
"""

from collections.abc import Callable
from typing import Any, Protocol

from novum.operations.registry import OPERATIONS
from tests.doors.http import Http
from tests.doors.recipes import Sent
from tests.mcp.door import Mcp

BY_NAME = {operation.name: operation for operation in OPERATIONS}


class Door(Protocol):
    def ask(self, token: str, operation: str, key: str, /, **values: Any) -> Any:
        """The answer's JSON; `{"error": code}` where it's refused. `key` is an
        idempotency key, or empty."""


class Rest:
    def ask(self, token: str, operation: str, key: str, /, **values: Any) -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        door = Http(token, headers=headers)
        answer = Sent(values).by(door, BY_NAME[operation])
        told = answer.json()
        return told if answer.status_code < 400 else {"error": told["code"]}


class OverMcp:
    def ask(self, token: str, operation: str, key: str, /, **values: Any) -> Any:
        more = {"idempotency_key": key} if key else {}
        told = Mcp(token).call(operation, **values, **more, verbose=True)
        return {"error": told.code} if told.is_error else told.value


DOORS: dict[str, Callable[[], Door]] = {"rest": Rest, "mcp": OverMcp}
