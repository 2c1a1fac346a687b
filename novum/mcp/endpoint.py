"""The address `/v1/mcp`."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from novum import problems
from novum.front import Environ
from novum.mcp.server import SERVER

type Handler = Callable[[HttpRequest], HttpResponseBase]

PATH = "/v1/mcp"


@csrf_exempt
def endpoint(request: HttpRequest) -> HttpResponse:
    try:
        # Raises for a Host that isn't in ALLOWED_HOSTS; the library looks at Origin.
        request.get_host()
        return SERVER(request)
    except Exception as error:
        return problems.plain(request, error)


def answered(request: HttpRequest) -> HttpResponse:
    response = endpoint(request)
    response.headers["Content-Length"] = str(len(response.content))
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def shortcut(get_response: Handler) -> Handler:
    """The short way in: no message needs the browsers' middleware (sessions, CSRF, what
    a page may load), which costs as much as the work of a claim."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return (answered if request.path_info == PATH else get_response)(request)

    return middleware


def find(environ: Environ) -> Handler | None:
    """The shortest way in (novum.front)."""
    return answered if environ["PATH_INFO"] == PATH else None
