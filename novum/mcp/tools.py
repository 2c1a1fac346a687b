"""Every operation as a tool: same name, and all else from its declaration."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django_mcpz.server import ToolError

from accounts.callers import Caller
from accounts.errors import Invalid
from novum import limits, problems
from novum.cleaning import clean
from novum.mcp.schemas import (
    ITEMS,
    KEY,
    VERBOSE,
    input_schema,
    is_bare_list,
    output_schema,
    own_arguments,
)
from novum.mcp.slim import slimmed
from novum.mcp.telling import describe, error_text
from novum.operations.operation import Download, Operation
from novum.operations.perform import perform

# Of a download. A model would read for minutes what it then can't keep.
MOST_TOLD_BYTES = 100_000


@dataclass(frozen=True)
class Tool:
    """One operation as MCP shows it; calling it is a tool call."""

    operation: Operation

    @property
    def title(self) -> str:
        return self.operation.name.replace("_", " ").replace(".", ": ").capitalize()

    def face(self) -> dict[str, Any]:
        """The arguments of `MCPServer.tool`."""
        one = self.operation
        return {
            "name": one.name,
            "title": self.title,
            "description": describe(one),
            "input_schema": input_schema(one),
            "output_schema": output_schema(one),
            "read_only": not one.changes,
            "destructive": one.is_destructive,
            "idempotent": one.is_repeatable,
            "open_world": one.reaches_out,
        }

    def definition(self) -> dict[str, Any]:
        """As `tools/list` shows it."""
        face = self.face()
        shown = {
            "name": face["name"],
            "description": face["description"],
            "inputSchema": face["input_schema"],
            "title": face["title"],
            "outputSchema": face["output_schema"],
            "annotations": {
                "readOnlyHint": face["read_only"],
                "destructiveHint": face["destructive"],
                "idempotentHint": face["idempotent"],
                "openWorldHint": face["open_world"],
            },
        }
        return {name: value for name, value in shown.items() if value is not None}

    def __call__(self, request: HttpRequest, arguments: dict[str, Any]) -> Any:
        """Raises ToolError, which the protocol layer answers as an `isError` result."""
        try:
            return self._answer(caller_of(request), arguments)
        except Exception as error:
            # All of them are told in the same way as by REST; ours are logged there.
            raise ToolError(error_text(problems.noted(error))) from error

    def _answer(self, caller: Caller, arguments: dict[str, Any]) -> Any:
        limits.check(caller, self.operation.bucket)
        own, given = self._own(clean(arguments))
        result = perform(
            self.operation, caller, given, idempotency_key=own.get(KEY) or None
        )
        if result is None:
            return "Done."
        if isinstance(result, Download):
            return result.value(MOST_TOLD_BYTES)
        if not own.get(VERBOSE):
            result = slimmed(result, brief=self.operation.changes)
        return {ITEMS: result} if is_bare_list(self.operation) else result

    def _own(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The door's own arguments, and those of the operation."""
        given = dict(arguments)
        own = {n: given.pop(n) for n in own_arguments(self.operation) if n in given}
        if not isinstance(own.get(VERBOSE, False), bool):
            raise Invalid.at(f"/{VERBOSE}", "invalid", "Say true or false.")
        if not isinstance(own.get(KEY), str | None):
            raise Invalid.at(f"/{KEY}", "invalid", "A key is text.")
        return own, given


def caller_of(request: HttpRequest) -> Caller:
    """Who was let in (novum.mcp.entering)."""
    caller: Caller = request.META["novum.caller"]
    return caller
