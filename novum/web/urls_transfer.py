from django.urls import URLPattern, path

from novum.web import transfer

urlpatterns: list[URLPattern] = [
    path("import", transfer.upload, name="import"),
    path("import/<uuid:import_id>", transfer.run, name="import-run"),
    path("import/<uuid:import_id>/discard", transfer.discard, name="import-discard"),
    path(
        "import/<uuid:import_id>/skipped.csv", transfer.skipped, name="import-skipped"
    ),
    path("boards/<uuid:board_id>/export", transfer.export, name="board-export"),
]
