"""The pages' addresses. One file per kind of page beside this one."""

from django.urls import path

from novum.web import boards

urlpatterns = [
    path("boards/<uuid:board_id>", boards.board, name="board"),
]
