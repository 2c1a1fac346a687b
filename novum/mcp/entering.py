"""Who may come in, and with what: before the protocol layer reads a message.

The same tokens, limits and rules of cleanliness as by REST. What is wrong with the
message as a whole is a JSON-RPC error; a value that we don't take inside of a tool call
is the tool's error, so that the model reads it and can put it right.
"""

import json
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django_mcpz.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    error_response,
    read_id,
    result_response,
)

from novum import limits, problems
from novum.cleaning import MAX_BODY_BYTES, Unclean, read_json
from novum.incoming import caller_by_bearer, raw_body
from novum.mcp.telling import error_text
from novum.operations.registry import OPERATIONS

MEDIA_TYPE = "application/json"
_NAMES = frozenset(one.name for one in OPERATIONS)


def enter(request: HttpRequest) -> HttpResponse | None:
    """None lets the message in, with the caller beside it; else the refusal.

    Raises Unauthenticated, TooManyRequests and RequestDataTooBig.
    """
    caller = caller_by_bearer(request)
    request.META["novum.caller"] = caller
    if request.content_type != MEDIA_TYPE:
        return error_response(
            None,
            INVALID_REQUEST,
            f"Send Content-Type: {MEDIA_TYPE}.",
            status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        )
    raw = raw_body(request)
    try:
        message = read_json(raw)
    except Unclean as fault:
        limits.check(caller, "work")
        return _refused(raw, fault)
    if not _is_call_of_a_tool(message):
        # A tool counts in the bucket of its operation.
        limits.check(caller, "work")
    # Django takes a body of unknown length for an empty one.
    request._body = raw
    request.META["novum.lists"] = _method(message) == "tools/list"
    return None


def _method(message: Any) -> Any:
    return message.get("method") if isinstance(message, dict) else None


def _is_call_of_a_tool(message: Any) -> bool:
    if _method(message) != "tools/call" or not isinstance(message.get("params"), dict):
        return False
    name = message["params"].get("name")
    return isinstance(name, str) and name in _NAMES


def _refused(raw: bytes, fault: Unclean) -> HttpResponse:
    if len(raw) > MAX_BODY_BYTES:
        return error_response(
            None,
            INVALID_REQUEST,
            fault.detail,
            status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )
    try:
        # The standard parser takes what ours refuses, and so finds whose call it was.
        message = json.loads(raw)
        number = read_id(message)
    except (ValueError, RecursionError):
        message, number = None, None
    if number is not None and _is_call_of_a_tool(message):
        text = error_text(problems.noted(fault))
        content = [{"type": "text", "text": text}]
        result = {"resultType": "complete", "content": content, "isError": True}
        return result_response(number, result)
    where = f" (at {fault.pointer})" if fault.pointer else ""
    return error_response(
        number,
        PARSE_ERROR if fault.status_hint == HTTPStatus.BAD_REQUEST else INVALID_REQUEST,
        fault.detail + where,
        status=HTTPStatus.BAD_REQUEST,
    )
