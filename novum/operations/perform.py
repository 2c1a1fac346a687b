"""Run an operation for a caller: the same steps for every door."""

import re
from typing import Any

import msgspec

from accounts import remembering
from accounts.callers import Caller
from accounts.errors import FieldError
from novum.logs import facts
from novum.operations import waiting
from novum.operations.operation import Operation

_AT = re.compile(r" - at `\$(?P<path>[^`]*)`$")
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>[^\]]*)\]")


def perform(
    operation: Operation,
    caller: Caller,
    arguments: dict[str, Any],
    *,
    strict: bool = True,
    idempotency_key: str | None = None,
) -> Any:
    """The operation's output. `arguments` are clean (novum.cleaning); not `strict`
    takes numbers and booleans as text, as a query string has them.

    Raises the domain's errors; the operation's `misfit` (Invalid, where it names none)
    for arguments that don't fit.
    """
    facts.tell("operation", operation.name)
    facts.tell("caller", caller)
    caller.require_scope(operation.scope)
    given = converted(operation, arguments, strict=strict)
    facts.tell("given", given)
    seconds = given.wait_seconds if operation.waits else 0
    if not seconds:
        result = _once(operation, caller, given, idempotency_key)
        facts.tell("result", result)
        return result
    facts.tell("waits", True)
    waits, remembers = operation.waits, operation.remembers
    assert waits
    assert remembers
    # Each try is a call of its own: no transaction is open while it waits.
    return waiting.until_claimed(
        lambda caller: _once(operation, caller, given, idempotency_key),
        caller,
        seconds,
        is_empty=lambda found: not remembers.made(found),
        wanted=lambda: waits(caller, given),
    )


def _once(
    operation: Operation, caller: Caller, given: Any, idempotency_key: str | None
) -> Any:
    caller.require_scope(operation.scope)
    if idempotency_key is None or operation.remembers is None:
        return operation.call(caller, given)
    remembers = operation.remembers
    return remembering.once(
        caller,
        operation=operation.name,
        key=idempotency_key,
        request=_request(operation, given),
        make=lambda: operation.call(caller, given),
        made_by=remembers.made,
        again=lambda ids: remembers.again(caller, given, ids),
    )


def _request(operation: Operation, given: Any) -> bytes:
    """What makes two calls the same. For how long they'd wait is no part of it."""
    if operation.waits:
        given = msgspec.structs.replace(given, wait_seconds=0)
    return msgspec.json.encode(given, order="deterministic")


def converted(operation: Operation, arguments: dict[str, Any], *, strict: bool) -> Any:
    try:
        given = msgspec.convert(arguments, operation.input, strict=strict)
    except msgspec.ValidationError as error:
        raise operation.misfit(errors=[_fault(str(error))]) from None
    if not strict:
        _refuse_null(operation, arguments, given)
    return given


def _refuse_null(operation: Operation, arguments: dict[str, Any], given: Any) -> None:
    """A query has no null: what isn't asked for is left out."""
    for name, text in arguments.items():
        if text.lower() == "null" and getattr(given, name) is None:
            raise operation.misfit.at(
                f"/{name}", "invalid", f"Leave {name} out instead."
            )


def _fault(text: str) -> FieldError:
    """msgspec names one fault and its place at the end of a sentence."""
    found = _AT.search(text)
    pointer = ""
    if found:
        text = text[: found.start()]
        for step in _STEP.finditer(found["path"]):
            pointer += "/" + (step["name"] or step["index"])
    for kind in ("unknown field", "missing required field"):
        if kind in text and (name := re.search(r"field `([^`]*)`", text)):
            pointer += "/" + name[1]
    code = "unknown_field" if "unknown field" in text else "invalid"
    code = "required" if "missing required" in text else code
    return FieldError(pointer, code, text + ".")
