"""One declaration per operation; every door is derived from it (design section 6).

An operation names who may, what goes in, what comes out, the one domain function, and
its REST method and path. REST routes, the OpenAPI document, the MCP tools and the commands
follow from it.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta

from accounts.callers import Caller
from accounts.errors import Conflict, Invalid
from accounts.pages import DEFAULT_PAGE_SIZE
from leases.lookout import Wanted
from novum.cleaning import MAX_BODY_BYTES
from novum.operations.waiting import MAX_WAIT_SECONDS


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What goes in: path, query and body in one, whatever the door."""


class NoInput(Input, frozen=True):
    """Nothing to say."""


class PageInput(Input, frozen=True, kw_only=True):
    page_size: Annotated[
        int,
        # The read refuses less, with a status of its own.
        Meta(
            description="More than 200 counts as 200, 0 as the default.",
            extra_json_schema={"minimum": 0},
        ),
    ] = DEFAULT_PAGE_SIZE
    page_token: Annotated[
        str,
        Meta(
            description="`next_page_token` of the page before; all else but `page_size`"
            " must be as it was."
        ),
    ] = ""


IfMatch = Annotated[
    str | None,
    Meta(description='The ETag of the card as you know it, such as `"card-7"`.'),
]


WaitSeconds = Annotated[
    float,
    Meta(
        ge=0,
        le=MAX_WAIT_SECONDS,
        description="Wait so long for a card to come; best at the `waiting_url`.",
    ),
]


@dataclass(frozen=True)
class Remembers:
    """How an operation takes an Idempotency-Key: the ids of what it made, and the same
    answer again from them."""

    made: Callable[[Any], Sequence[UUID]]
    again: Callable[[Caller, Any, Sequence[UUID]], Any]


class TooLongHere(Conflict):
    """The answer is too long for this door."""

    code = "too_long_here"


@dataclass(frozen=True)
class Download:
    """An answer in JSON that may be too long to hold at once; whoever reads `content`
    closes it."""

    name: str
    size: int
    content: IO[bytes]

    def value(self, limit: int) -> Any:
        """Raises TooLongHere beyond `limit` bytes."""
        with self.content as content:
            if self.size > limit:
                detail = f"The answer has {self.size} bytes, {limit} are told here."
                raise TooLongHere(detail, bytes=self.size)
            return msgspec.json.decode(content.read())


@dataclass(frozen=True)
class Operation:
    """`name` is also the MCP tool, the CLI command and the operationId.

    `scope` is what the token must have (empty: open to everybody), `who` the board role
    or workspace role that the verb asks for, `anybody` or `person` (no agent), `errors` the codes that it can answer,
    `bucket` which rate limit it counts in, `aliases` further paths. What must be so
    before the call stands in the docstring of `call` (`doc`). `repeatable`: the same
    call once more changes no row, not even by another event. `destroys`: it may
    overwrite or take away what no later call brings back. Both follow from the method
    where they aren't said. `reaches_out`: it calls other systems. `waits`: what a call
    with `wait_seconds` that made nothing waits for. `body_bytes`: how long a body may be
    by REST; `patience_seconds`: how long a client should wait beyond the usual. `misfit`:
    the error for arguments that don't fit the input. `call` may answer with a Download,
    in the form of `output`.
    """

    name: str
    method: str
    path: str
    summary: str
    input: type[Input]
    output: Any
    call: Callable[[Caller, Any], Any]
    scope: str
    who: str
    errors: tuple[str, ...] = ()
    status: int = 200
    remembers: Remembers | None = None
    bucket: str = "work"
    aliases: tuple[str, ...] = ()
    repeatable: bool | None = None
    destroys: bool | None = None
    reaches_out: bool = False
    waits: Callable[[Caller, Any], Wanted] | None = None
    body_bytes: int = MAX_BODY_BYTES
    patience_seconds: int = 0
    misfit: type[Invalid] = Invalid

    @property
    def noun(self) -> str:
        """The group it's listed under."""
        return self.call.__module__.rpartition(".")[2]

    @property
    def doc(self) -> str:
        return " ".join((inspect.getdoc(self.call) or "").split())

    @property
    def changes(self) -> bool:
        return self.method != "GET"

    @property
    def is_repeatable(self) -> bool:
        return self.method != "POST" if self.repeatable is None else self.repeatable

    @property
    def is_destructive(self) -> bool:
        if self.destroys is None:
            return self.method in ("PUT", "PATCH", "DELETE")
        return self.destroys
