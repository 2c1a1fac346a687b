"""The board."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.errors import NotFound
from accounts.roles import BoardRole
from boards import reads
from boards.reads import CardFilter
from leases import wall
from novum.web.filters import choices, filtering
from novum.web.pages import PageRequest, is_fragment, page

ARCHIVED_PER_PAGE = 100


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


@require_safe
@page
def archived(request: PageRequest, board_id: UUID) -> HttpResponse:
    """The cards that were put away, oldest first, each with a way back."""
    board = reads.board(request.caller, board_id=board_id)
    columns = reads.columns(request.caller, board_id=board_id)
    found = reads.cards(
        request.caller,
        CardFilter(board_id=board_id, archived=True),
        page_size=ARCHIVED_PER_PAGE,
        page_token=request.GET.get("page", ""),
    )
    role = BoardRole[board.your_role.upper()]
    names = {one.id: one.name for one in columns}
    values = {
        "board": board,
        "cards": [(one, names.get(one.column_id, "")) for one in found.items],
        "next_page": found.next_page_token,
        "may_edit": role >= BoardRole.EDITOR and board.archived_at is None,
        "nav": "boards",
    }
    return render(request, "boards/archived.html", values)


def _place(text: str) -> tuple[int, int, UUID]:
    """Raises NotFound for what is no place."""
    try:
        priority, position, card_id = text.split(",")
        return int(priority), int(position), UUID(card_id)
    except ValueError as error:
        raise NotFound("There is no such place in this column.") from error
