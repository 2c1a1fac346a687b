from django.urls import URLPattern, path

from novum.web import boards

urlpatterns: list[URLPattern] = [
    path("boards/<uuid:board_id>", boards.board, name="board"),
    path("boards/<uuid:board_id>/archived", boards.archived, name="archived-cards"),
    path(
        "boards/<uuid:board_id>/columns/<uuid:column_id>/more",
        boards.more,
        name="more-cards",
    ),
]
