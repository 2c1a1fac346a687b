from django.urls import URLPattern, path

from novum.web import cards, columns, contracts

_CARD = "boards/<uuid:board_id>/cards/<uuid:card_id>"
_COMMENT = f"{_CARD}/comments/<uuid:comment_id>"
_COLUMN = "boards/<uuid:board_id>/columns/<uuid:column_id>"

urlpatterns: list[URLPattern] = [
    path(_CARD, cards.card, name="card"),
    path(f"{_CARD}/edit/<slug:name>", cards.edit, name="card-edit"),
    path(f"{_CARD}/preview", cards.preview, name="card-preview"),
    path(f"{_CARD}/comments", cards.comment, name="comment-add"),
    path(f"{_COMMENT}/edit", cards.comment_edit, name="comment-edit"),
    path(f"{_COMMENT}/delete", cards.comment_delete, name="comment-delete"),
    path(f"{_CARD}/requeue", cards.requeue, name="card-requeue"),
    path(f"{_CARD}/take-away", cards.revoke, name="card-take-away"),
    path(f"{_CARD}/call-off", cards.call_off, name="card-call-off"),
    path(
        "boards/<uuid:board_id>/settings", columns.board_settings, name="board-settings"
    ),
    path("boards/<uuid:board_id>/archive", columns.archive_board, name="board-archive"),
    path("boards/<uuid:board_id>/restore", columns.restore_board, name="board-restore"),
    path("boards/<uuid:board_id>/columns", columns.add, name="column-add"),
    path(f"{_COLUMN}/settings", columns.settings, name="column-settings"),
    path(f"{_COLUMN}/move", columns.move, name="column-move"),
    path(f"{_COLUMN}/archive-cards", columns.archive_cards, name="column-clear"),
    path(f"{_COLUMN}/delete", columns.delete, name="column-delete"),
    path(f"{_COLUMN}/contract", contracts.contract, name="contract"),
    path(f"{_COLUMN}/contract/try", contracts.try_schema, name="contract-try"),
    path(f"{_COLUMN}/contract/backoff", contracts.backoff, name="contract-backoff"),
    path(f"{_COLUMN}/pause", contracts.pause, name="column-pause"),
    path(f"{_COLUMN}/resume", contracts.resume, name="column-resume"),
]
