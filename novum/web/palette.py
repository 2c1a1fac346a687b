"""The command palette: boards, cards and what can be done, from one field."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from boards.search import search
from novum.web.pages import PageRequest, is_fragment, page

MAX_TEXT_CHARACTERS = 200


@dataclass(frozen=True)
class Action:
    """Goes to `url`, or does `does` on the page (static/js/palette.js)."""

    name: str
    icon: str
    url: str = ""
    does: str = ""
    key: str = ""


@require_GET
@page
def find(request: PageRequest) -> HttpResponse:
    """`on=board`: asked from a board, which offers more actions. `part=results` for the
    list alone."""
    text = request.GET.get("q", "")[:MAX_TEXT_CHARACTERS]
    context = {
        "text": text,
        "found": search(request.caller, text=text),
        "actions": _actions(text, on_board=request.GET.get("on") == "board"),
    }
    if not is_fragment(request):
        return render(request, "boards/find.html", context)
    part = "#results" if request.GET.get("part") == "results" else ""
    return render(request, f"boards/_palette.html{part}", context)


def _actions(text: str, *, on_board: bool) -> list[Action]:
    here = [
        Action(_("New card"), "plus", does="new", key="n"),
        Action(_("Search and filter this board"), "search", does="search", key="/"),
        Action(_("Keyboard shortcuts"), "keyboard", does="shortcuts", key="?"),
    ]
    anywhere = [
        Action(_("All boards"), "layout-dashboard", url=reverse("home")),
        Action(_("My tasks"), "list-checks", url=reverse("my")),
        Action(_("Tasks of all queues"), "inbox", url=reverse("tasks")),
        Action(_("Messages"), "bell", url=reverse("messages")),
        Action(_("Import a file"), "upload", url=reverse("import")),
        Action(_("What needs you"), "hand", url=reverse("needs-you")),
        Action(_("Leases of all boards"), "hourglass", url=reverse("leases")),
        Action(_("Agents"), "bot", url=reverse("agents")),
        Action(_("Members"), "users", url=reverse("members")),
        Action(_("Your profile"), "user", url=reverse("profile")),
        Action(_("API documentation"), "book-open", url=reverse("docs")),
    ]
    offered = [*here, *anywhere] if on_board else anywhere
    wanted = text.strip().casefold()
    return [one for one in offered if wanted in one.name.casefold()]
