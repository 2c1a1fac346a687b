"""Errors for the outside: RFC 9457 problem details with a stable `code`.

One table from the domain's errors to a status, and one shape for everything that goes
wrong under /v1, Django's own 400, 403, 404, 413 and 500 included.
"""

import logging
import re
from http import HTTPStatus
from typing import Any

import msgspec
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from accounts import errors
from accounts.errors import FieldError
from accounts.pages import BadCursor, BadPageSize
from boards.errors import VersionMismatch
from novum.cleaning import Unclean
from novum.logs import facts

MEDIA_TYPE = "application/problem+json"
log = logging.getLogger("novum.problems")

# First match counts: the more special class comes first.
STATUSES: tuple[tuple[type[errors.DomainError], int], ...] = (
    (errors.Unauthenticated, 401),
    (errors.Forbidden, 403),
    (errors.NotFound, 404),
    (VersionMismatch, 412),
    (BadPageSize, 400),
    (errors.Invalid, 422),
    (BadCursor, 400),
    (errors.Conflict, 409),
    (errors.TooManyRequests, 429),
)
# Of the IANA registry; what isn't here is no more than its status.
TYPES = {429: "https://iana.org/assignments/http-problem-types#quota-exceeded"}
# PostgreSQL's classes for "not now": out of connections or memory, cancelled by a
# timeout, lock not available, deadlock; and for a connection that ended.
NOT_NOW = re.compile(r"53...|57014|55P03|40P01|40001")
LOST = re.compile(r"08...|57P..")


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """RFC 9457. `code` is stable and what programs look at; `errors` point at fields
    of the input; `current` is the present state of what the call was about;
    `violated-policies` are the rate limits that were hit."""

    title: str
    status: int
    code: str
    detail: str
    type: str = "about:blank"
    errors: list[FieldError] = []
    current: Any = None
    retry_after_seconds: int | None = None
    violated_policies: list[str] = msgspec.field(default=[], name="violated-policies")
    request_id: str = ""


def problem_of(error: Exception) -> Problem:
    """Never raises; what isn't known is a 500 without any detail."""
    if isinstance(error, errors.DomainError):
        return _of_domain(error)
    if isinstance(error, Unclean):
        fields = [FieldError(error.pointer, error.code, error.detail)]
        return _problem(error.status_hint, error.code, error.detail, errors=fields)
    if isinstance(error, OperationalError) and (detail := _passing(error)):
        return _problem(503, "unavailable", detail, retry_after_seconds=1)
    return _of_frameworks(error)


def _of_domain(error: errors.DomainError) -> Problem:
    status = next((s for kind, s in STATUSES if isinstance(error, kind)), 400)
    facts = dict(error.facts)
    retry = facts.pop("retry_after_seconds", None)
    policy = getattr(error, "policy", None)
    return _problem(
        status,
        error.code,
        error.detail,
        errors=getattr(error, "errors", []),
        current=facts or None,
        retry_after_seconds=retry,
        violated_policies=[policy.name] if policy else [],
    )


def _of_frameworks(error: Exception) -> Problem:
    if isinstance(error, APIException):
        detail = str(error.detail)
        code = "forbidden" if error.status_code == 403 else str(error.default_code)
        return _problem(error.status_code, code, detail)
    if isinstance(error, Http404):
        return _problem(404, "not_found", "There is nothing at this address.")
    if isinstance(error, PermissionDenied):
        return _problem(403, "forbidden", "You may not do that.")
    if isinstance(error, RequestDataTooBig):
        return _problem(413, "too_large", "The body is too large.")
    if isinstance(error, SuspiciousOperation):
        return _problem(400, "bad_request", "The request can't be understood.")
    return _problem(500, "internal", "That was our fault. It has been noted.")


def _problem(status: int, code: str, detail: str, **more: Any) -> Problem:
    title, kind = HTTPStatus(status).phrase, TYPES.get(status, "about:blank")
    return Problem(title, status, code, detail, type=kind, **more)


def _passing(error: OperationalError) -> str:
    """What to do about an error that passes; empty for one that doesn't."""
    state = getattr(error.__cause__, "sqlstate", None)
    if state is None or LOST.fullmatch(state):
        return (
            "The database went away during the call: it may have been done or not."
            " Repeat it as it was; with an Idempotency-Key it's done once."
        )
    if NOT_NOW.fullmatch(state):
        return "The database can't answer just now. Nothing was changed; try again."
    return ""


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's hook for everything raised in a view."""
    return Response(**_answer(error))


def noted(error: Exception) -> Problem:
    """The problem under the call's id, by which the log knows a fault of ours."""
    problem, request_id = problem_of(error), facts.request_id()
    if problem.status >= 500:
        log.error("%s %s", problem.code, request_id, exc_info=error)
    return msgspec.structs.replace(problem, request_id=request_id)


def _answer(error: Exception) -> dict[str, Any]:
    problem = noted(error)
    headers: dict[str, str] = {}
    if isinstance(error, errors.TooManyRequests):
        headers |= refusal_headers(error)
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="novum", error="invalid_token"'
    if problem.retry_after_seconds is not None:
        headers["Retry-After"] = str(problem.retry_after_seconds)
    return {
        "data": problem,
        "status": problem.status,
        "headers": headers,
        "content_type": MEDIA_TYPE,
    }


def refusal_headers(error: errors.TooManyRequests) -> dict[str, str]:
    """Which limit that was and when there is something of it again, by
    draft-ietf-httpapi-ratelimit-headers. A limit on what goes on at one time has no
    window, and nobody knows when the first of it ends."""
    policy = error.policy
    quota, left = f'"{policy.name}";q={policy.quota}', f'"{policy.name}";r=0'
    if policy.unit != "requests":
        quota += f';qu="{policy.unit}"'
    if policy.window_seconds is not None:
        quota += f";w={policy.window_seconds}"
        left += f";t={error.retry_after_seconds}"
    return {
        "RateLimit-Policy": quota,
        "RateLimit": left,
        "Retry-After": str(error.retry_after_seconds),
    }


def plain(request: HttpRequest, error: Exception) -> HttpResponse:
    """A problem outside of DRF: Django's own handlers under /v1."""
    found = _answer(error)
    return JsonResponse(
        msgspec.to_builtins(found["data"]),
        status=found["status"],
        headers=found["headers"],
        content_type=MEDIA_TYPE,
    )
