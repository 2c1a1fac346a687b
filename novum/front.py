"""In front of Django's handler: the shortest way in for machines.

What the handler adds to a request (signals, the middleware's chain, a search through all
addresses) takes longer than reading a worker's call and writing the answer. A door that
answers some calls here answers them by the same function behind the handler, too; of the
middleware only the outermost are here: each call has its id and is read as UTF-8.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase

from novum.incoming import read_as_utf8, readable_type
from novum.logs import calls
from novum.turns import Turns

type Environ = dict[str, Any]
type Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
# What answers this call, if it's for the door.
type Find = Callable[[Environ], Callable[[HttpRequest], HttpResponseBase] | None]


def in_front_of(application: Application, *doors: Find) -> Application:
    """`application`, asked where no door answers. Below another address than the root
    (SCRIPT_NAME) it's always asked, and for a body whose length nobody knows."""
    turns = Turns()

    def serve(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        environ["CONTENT_TYPE"] = readable_type(environ.get("CONTENT_TYPE", ""))
        if environ.get("SCRIPT_NAME") or environ.get("HTTP_TRANSFER_ENCODING"):
            return application(environ, start_response)
        for find in doors:
            if found := find(environ):
                break
        else:
            return application(environ, start_response)
        request = WSGIRequest(environ)
        read_as_utf8(request)
        _receive(request)
        with turns.one():
            response = calls.middleware(found)(request)
        start_response(
            f"{response.status_code} {response.reason_phrase}", [*response.items()]
        )
        return [response.content] if isinstance(response, HttpResponse) else response

    return serve


def _receive(request: HttpRequest) -> None:
    """The body, for as long as its sender takes; what is wrong with it comes out where
    it's read."""
    with suppress(RequestDataTooBig, UnreadablePostError):
        request.body  # noqa: B018
