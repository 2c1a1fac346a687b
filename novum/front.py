"""In front of Django's handler: the shortest way in for machines.

What the handler adds to a request (signals, the middleware's chain, a search through all
addresses) takes longer than reading a worker's call and writing the answer. A door that
answers some calls here answers them by the same function behind the handler, too; of the
middleware only the outermost is here, which gives each call its id.
"""

from collections.abc import Callable, Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from novum.logs import calls

type Environ = dict[str, Any]
type Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
# What answers this call, if it's for the door.
type Find = Callable[[Environ], Callable[[HttpRequest], HttpResponseBase] | None]


def in_front_of(application: Application, *doors: Find) -> Application:
    """`application`, asked where no door answers. Below another address than the root
    (SCRIPT_NAME) it's always asked."""

    def serve(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        found = None
        if not environ.get("SCRIPT_NAME"):
            found = next(filter(None, (find(environ) for find in doors)), None)
        if found is None:
            return application(environ, start_response)
        try:
            response = calls.middleware(found)(WSGIRequest(environ))
        finally:
            _let_go()
        start_response(
            f"{response.status_code} {response.reason_phrase}", [*response.items()]
        )
        return [response.content] if isinstance(response, HttpResponse) else response

    return serve


def _let_go() -> None:
    """Of the connections to the database, as at the end of each of Django's requests;
    except where a test's transaction goes on."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
