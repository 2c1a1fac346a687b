"""The REST door: parse, perform, answer. One view class for all operations."""

from typing import Any, ClassVar

from rest_framework.exceptions import MethodNotAllowed
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.callers import Caller
from accounts.errors import FieldError, Invalid, Unauthenticated
from boards.shapes import CardShape
from novum.cleaning import clean, read_json
from novum.operations.operation import Operation
from novum.operations.perform import perform
from novum.rest import limits

IN_QUERY = ("GET", "DELETE")
IN_HEADER = {"if_match": "If-Match"}


class AlwaysJson(BaseContentNegotiation):
    """There is one form of an answer; asking for another is no error."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return None

    def select_renderer(
        self, request: Any, renderers: Any, format_suffix: Any = None
    ) -> Any:
        return renderers[0], renderers[0].media_type


class OperationView(APIView):
    """All methods of one path."""

    content_negotiation_class = AlwaysJson
    operations: ClassVar[dict[str, Operation]] = {}

    def handle(self, request: Request, **path: Any) -> Response:
        method = "GET" if request.method == "HEAD" else str(request.method)
        operation = self.operations.get(method)
        if operation is None:
            raise MethodNotAllowed(method)
        caller = request.user
        if not isinstance(caller, Caller):
            raise Unauthenticated
        limits.check(caller, operation.bucket)
        result = perform(
            operation,
            caller,
            _arguments(request, operation, path),
            strict=method not in IN_QUERY,
            idempotency_key=_idempotency_key(request),
        )
        return _response(request, operation, result)

    get = post = put = patch = delete = handle

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    @property
    def allowed_methods(self) -> list[str]:
        head = ["HEAD"] if "GET" in self.operations else []
        return [*self.operations, *head, "OPTIONS"]


def _arguments(
    request: Request, operation: Operation, path: dict[str, Any]
) -> dict[str, Any]:
    """Path, query or body, and headers, as one: nothing may be said twice."""
    if operation.method in IN_QUERY:
        given: dict[str, Any] = dict(request.query_params.items())
        clean(given)
    else:
        given = _body(request)
    outside: dict[str, Any] = {name: str(value) for name, value in path.items()}
    for name, header in IN_HEADER.items():
        if name in operation.input.__struct_fields__:
            outside[name] = request.headers.get(header) or None
    for name in outside:
        if name in given:
            raise Invalid.at(f"/{name}", "unknown_field", "It doesn't belong here.")
    return given | outside


def _body(request: Request) -> dict[str, Any]:
    raw = request._request.body
    value = read_json(raw) if raw.strip() else {}
    if not isinstance(value, dict):
        raise Invalid(errors=[FieldError("", "invalid", "Send a JSON object.")])
    return value


def _idempotency_key(request: Request) -> str | None:
    """A quoted string by the draft, or as Stripe's clients send it, without quotes."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    key = key.strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    return key


def _response(request: Request, operation: Operation, result: Any) -> Response:
    headers = {}
    if isinstance(result, CardShape):
        headers["ETag"] = etag = f'"card-{result.version}"'
        known = request.headers.get("If-None-Match", "")
        if operation.method == "GET" and (etag in known or known.strip() == "*"):
            return Response(status=304, headers=headers)
    if operation.status == 201 and (own := getattr(result, "id", None)):
        headers["Location"] = f"{request.path.partition(':')[0].rstrip('/')}/{own}"
    retry = getattr(result, "retry_after_seconds", None)
    if isinstance(retry, (int, float)):
        headers["Retry-After"] = str(int(-(-retry // 1)))
    return Response(result, status=operation.status, headers=headers)
