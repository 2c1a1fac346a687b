"""The board."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from boards.reads import CardFilter
from leases.wall import wall
from novum.web.pages import PageRequest, is_fragment, page


@page
def board(request: PageRequest, board_id: UUID) -> HttpResponse:
    found = wall(request.caller, board_id=board_id, wanted=CardFilter())
    template = "boards/board.html"
    if is_fragment(request):
        template += "#columns"
    return render(request, template, {"wall": found, "nav": "boards"})
