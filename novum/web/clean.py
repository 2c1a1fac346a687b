"""What a browser sends, cleaned in one place before any page reads it.

So a page may take a text from the query, the form or a file's name as it is: what cannot
be stored never reaches one. REST and MCP clean what they take by themselves, to answer
in their own terms.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from novum.cleaning import Unclean, clean
from novum.web.pages import is_fragment, refuse

FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
UTF_8 = ("utf-8", "utf8")
MAX_NAME_CHARACTERS = 60


class Clean:
    """Middleware, in front of sessions: the first to read a cookie.

    Refuses with 422 what holds U+0000 or half of a surrogate pair, and with 400 a form
    in another encoding than UTF-8, in a sentence that names the field. Nothing was
    changed then: no view was called. A cookie like that is none of ours, and left out.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        for name, value in [*request.COOKIES.items()]:
            if "\0" in value:
                del request.COOKIES[name]
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, arguments: Any, named: Any
    ) -> HttpResponse | None:
        """Once a page has been found: everybody is known who is to be told."""
        if request.path.startswith("/v1/"):
            return None
        if wrong := _charset(request):
            return _refused(request, _("Send forms in UTF-8, not in %s.") % wrong, 400)
        try:
            for part in _sent(request):
                clean(part)
        except Unclean as bad:
            name = bad.pointer.split("/")[1] if bad.pointer else ""
            name = name.replace("~1", "/").replace("~0", "~")
            shown = name[:MAX_NAME_CHARACTERS]
            said = f"{shown}: {bad.detail}" if shown else bad.detail
            return _refused(request, said, bad.status_hint)
        return None


def _charset(request: HttpRequest) -> str:
    """Of a form that isn't UTF-8 by what it says of itself; else ""."""
    said = (request.content_params or {}).get("charset", "").strip("'\"").lower()
    is_form = request.method == "POST" and request.content_type in FORMS
    return said[:MAX_NAME_CHARACTERS] if is_form and said not in UTF_8 else ""


def _sent(request: HttpRequest) -> Iterator[dict[str, Any]]:
    yield dict(request.GET.lists())
    if request.method == "POST":
        yield dict(request.POST.lists())
        for name, files in request.FILES.lists():
            yield {name: [file.name for file in files]}


def _refused(request: HttpRequest, said: str, status: int) -> HttpResponse:
    if is_fragment(request):
        return refuse(request, Invalid(said))
    return render(request, "unclean.html", {"said": said}, status=status)
