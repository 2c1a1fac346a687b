"""The short way in for machines.

The other middleware is about browsers: sessions, CSRF, messages, what a page may load.
A call with a token in its header has no use for it, nor for what Django REST framework
adds to a request, and both together cost as much as the work of a claim.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve

from novum import problems
from novum.incoming import caller_by_bearer
from novum.operations.operation import Operation
from novum.rest.answering import answer

type Handler = Callable[[HttpRequest], HttpResponseBase]


def shortcut(get_response: Handler) -> Handler:
    """Answers operations called with an `Authorization` header; all else goes on."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if not request.META.get("HTTP_AUTHORIZATION"):
            return get_response(request)
        try:
            found = resolve(request.path_info)
        except Resolver404:
            return get_response(request)
        operations: dict[str, Operation] = getattr(
            found.func, "view_initkwargs", {}
        ).get("operations", {})
        operation = operations.get(str(request.method))
        if operation is None:
            return get_response(request)
        return answered(request, operation, found.kwargs)

    return middleware


def answered(
    request: HttpRequest, operation: Operation, path: dict[str, Any]
) -> HttpResponseBase:
    """The operation's answer for a caller with a token, or what went wrong."""
    try:
        caller = caller_by_bearer(request)
        response: HttpResponseBase = answer(request, operation, caller, path)
    except Exception as error:
        response = problems.plain(request, error)
    if isinstance(response, HttpResponse):
        response.headers["Content-Length"] = str(len(response.content))
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
