from django.urls import URLPattern, path

from novum.web import moving, palette

CARD = "boards/<uuid:board_id>/cards/<uuid:card_id>"

urlpatterns: list[URLPattern] = [
    path(f"{CARD}/move", moving.move, name="move-card"),
    path(f"{CARD}/archive", moving.archive, name="archive-card"),
    path(f"{CARD}/restore", moving.restore, name="restore-card"),
    path(
        "boards/<uuid:board_id>/columns/<uuid:column_id>/cards",
        moving.add,
        name="add-cards",
    ),
    path("find", palette.find, name="find"),
]
