"""One call by REST: read the request, perform the operation, write the answer."""

from math import isfinite, nan
from typing import Any

import msgspec
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from accounts.callers import Caller
from accounts.errors import FieldError, Invalid
from boards.shapes import CardShape
from novum import limits
from novum.cleaning import clean, read_json
from novum.incoming import raw_body
from novum.operations.operation import Download, Operation
from novum.operations.perform import perform

IN_QUERY = ("GET", "DELETE")
IN_HEADER = {"if_match": "If-Match"}
# Says how to answer rather than what to do: beside a body it may stand in the query.
IN_QUERY_TOO = "wait_seconds"
# A longer download is sent as it's read.
HELD_BYTES = 1024 * 1024


def answer(
    request: HttpRequest, operation: Operation, caller: Caller, path: dict[str, Any]
) -> HttpResponseBase:
    """Raises the domain's errors, Unclean and TooManyRequests."""
    limits.check(caller, operation.bucket)
    result = perform(
        operation,
        caller,
        _arguments(request, operation, path),
        strict=operation.method not in IN_QUERY,
        idempotency_key=_idempotency_key(request),
    )
    if isinstance(result, Download):
        return download(result)
    return _response(request, operation, result)


def _header(request: HttpRequest, name: str) -> str | None:
    """`request.headers` would first copy all there are, which takes as long as all the
    rest of this module."""
    found: str | None = request.META.get(f"HTTP_{name.upper().replace('-', '_')}")
    return found


def _arguments(
    request: HttpRequest, operation: Operation, path: dict[str, Any]
) -> dict[str, Any]:
    """Path, query or body, and headers, as one: nothing may be said twice."""
    if operation.method in IN_QUERY:
        given: dict[str, Any] = dict(request.GET.items())
        clean(given)
    else:
        given = _body(request, operation)
    outside: dict[str, Any] = {name: str(value) for name, value in path.items()}
    for name, header in IN_HEADER.items():
        if name in operation.input.__struct_fields__:
            outside[name] = _header(request, header) or None
    if operation.waits and IN_QUERY_TOO in request.GET:
        outside[IN_QUERY_TOO] = _seconds(request.GET[IN_QUERY_TOO])
    for name in outside:
        if name in given:
            detail = "It doesn't belong here."
            raise operation.misfit.at(f"/{name}", "unknown_field", detail)
    return given | outside


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = nan
    if not isfinite(seconds):
        raise Invalid.at(f"/{IN_QUERY_TOO}", "invalid", "Say a number of seconds.")
    return seconds


def _body(request: HttpRequest, operation: Operation) -> dict[str, Any]:
    limit = operation.body_bytes
    raw = raw_body(request, limit)
    value = read_json(raw, limit=limit) if raw else {}
    if not isinstance(value, dict):
        fault = FieldError("", "invalid", "Send a JSON object.")
        raise operation.misfit(errors=[fault])
    return value


def _idempotency_key(request: HttpRequest) -> str | None:
    """A quoted string by the draft, or as Stripe's clients send it, without quotes."""
    key = _header(request, "Idempotency-Key")
    if key is None:
        return None
    key = key.strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    return key


def download(file: Download) -> HttpResponseBase:
    """As a file to keep."""
    kind = "application/json"
    if file.size > HELD_BYTES:
        return FileResponse(
            file.content, as_attachment=True, filename=file.name, content_type=kind
        )
    with file.content as content:
        response = HttpResponse(content.read(), content_type=kind)
    shown = content_disposition_header(True, file.name)
    response.headers["Content-Disposition"] = shown or "attachment"
    return response


def _response(request: HttpRequest, operation: Operation, result: Any) -> HttpResponse:
    headers = {}
    if isinstance(result, CardShape):
        headers["ETag"] = etag = f'"card-{result.version}"'
        known = _header(request, "If-None-Match") or ""
        if operation.method == "GET" and (etag in known or known.strip() == "*"):
            return HttpResponse(status=304, headers=headers)
    if operation.status == 201 and (own := getattr(result, "id", None)):
        headers["Location"] = f"{request.path.partition(':')[0].rstrip('/')}/{own}"
    retry = getattr(result, "retry_after_seconds", None)
    if isinstance(retry, (int, float)):
        headers["Retry-After"] = str(int(-(-retry // 1)))
    return HttpResponse(
        b"" if result is None else msgspec.json.encode(result),
        status=operation.status,
        headers=headers,
        content_type="application/json",
    )
