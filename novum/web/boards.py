"""The board."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.errors import NotFound
from leases import wall
from novum.web.filters import choices, filtering
from novum.web.pages import PageRequest, is_fragment, page


@require_safe
@page
def board(request: PageRequest, board_id: UUID) -> HttpResponse:
    """The page; for htmx and our own scripts only what is live on it."""
    found = filtering(request.GET)
    shown = wall.wall(
        request.caller, board_id=board_id, wanted=found.wanted, shown=found.shown
    )
    values = {
        "wall": shown,
        "filter": found,
        "nav": "boards",
        "api": settings.NOVUM_URL,
    }
    if found.is_active:
        values["all_cards"] = wall.total(board_id)
    if is_fragment(request):
        response = render(request, "boards/board.html#columns", values)
        response["Cache-Control"] = "no-store"
        return response
    values |= {
        "choices": choices(request.caller, board_id),
        "live": settings.NOVUM_LIVE_URL.replace("http", "ws", 1),
    }
    return render(request, "boards/board.html", values)


@require_safe
@page
def more(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    """The next cards of a column, behind the one that `after` names."""
    found = filtering(request.GET)
    views = wall.more_cards(
        request.caller,
        board_id=board_id,
        column_id=column_id,
        after=_place(request.GET.get("after", "")),
        wanted=found.wanted,
    )
    values: dict[str, Any] = {"views": views, "filter": found, "column_id": column_id}
    if len(views) == wall.CARDS_PER_PAGE:
        values["last"] = views[-1]
    return render(request, "boards/_more_cards.html", values)


def _place(text: str) -> tuple[int, int, UUID]:
    """Raises NotFound for what is no place."""
    try:
        priority, position, card_id = text.split(",")
        return int(priority), int(position), UUID(card_id)
    except ValueError as error:
        raise NotFound("There is no such place in this column.") from error
