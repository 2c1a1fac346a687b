"""The pages' addresses: one list per kind of page, beside the views it names."""

from django.urls import include, path

from novum.parts import parts

urlpatterns = [
    path("", include("novum.web.urls_account")),
    path("", include("novum.web.urls_boards")),
    path("", include("novum.web.urls_moving")),
    path("", include("novum.web.urls_cards")),
    path("", include("novum.web.urls_tasks")),
    path("", include("novum.web.urls_transfer")),
    path("", include("novum.web.urls_fleet")),
    path("", include("novum.web.urls_activity")),
    path("", include("novum.web.urls_queues")),
    path("", include("novum.web.urls_dead_letters")),
    *(path("", include(part)) for part in parts("pages")),
]
