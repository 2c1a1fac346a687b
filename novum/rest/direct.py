"""The shortest way in: what workers call most is answered in front of Django's handler.

What that adds to a request (signals, the middleware's chain, a search through all
addresses) takes longer than reading the call and writing the answer. Only POST with a
token comes here, at an address all of whose parameters are ids; the rest goes on, and
both ways answer by the same function.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import HttpResponse

from novum.operations.operation import Operation
from novum.operations.registry import OPERATIONS
from novum.rest.shortcut import answered

type Environ = dict[str, Any]
type StartResponse = Callable[..., Any]
type Application = Callable[[Environ, StartResponse], Iterable[bytes]]

# As Django's addresses have them (django.urls.converters).
_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_PARAMETER = re.compile(r"{(\w+)}")
_NAMES = ("handle", "queue")


def _routes() -> dict[str, tuple[Operation, list[str]]]:
    """By the address with `{}` for each id: the operation and the ids' names."""
    found = {}
    for operation in OPERATIONS:
        for path in (operation.path, *operation.aliases):
            names = _PARAMETER.findall(path)
            if operation.method == "POST" and not set(names) & set(_NAMES):
                shape = _PARAMETER.sub("{}", path)
                found[f"/v1{shape}"] = (operation, names)
    return found


def direct(application: Application) -> Application:
    """`application` with the short way in front of it."""
    routes = _routes()

    def serve(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if (
            environ["REQUEST_METHOD"] != "POST"
            or not environ.get("HTTP_AUTHORIZATION")
            or environ.get("SCRIPT_NAME")
            or (route := routes.get(_ID.sub("{}", path))) is None
        ):
            return application(environ, start_response)
        operation, names = route
        ids = dict(zip(names, _ID.findall(path), strict=True))
        try:
            response = answered(WSGIRequest(environ), operation, ids)
        finally:
            # As at the end of each of Django's requests.
            close_old_connections()
        start_response(
            f"{response.status_code} {response.reason_phrase}", [*response.items()]
        )
        return [response.content] if isinstance(response, HttpResponse) else response

    return serve
