from django.urls import URLPattern, path

from novum.web import dead_letters

_ACTION = "dead-letters/actions/<uuid:action_id>"

urlpatterns: list[URLPattern] = [
    path("dead-letters", dead_letters.dead_letters, name="dead-letters"),
    path("dead-letters/check", dead_letters.check, name="dead-letters-check"),
    path("dead-letters/run", dead_letters.run, name="dead-letters-run"),
    path("dead-letters/<uuid:card_id>/edit", dead_letters.edit, name="dead-letter"),
    path(_ACTION, dead_letters.action, name="bulk-action"),
    path(f"{_ACTION}/stop", dead_letters.stop, name="bulk-action-stop"),
    path(f"{_ACTION}/go-on", dead_letters.go_on, name="bulk-action-go-on"),
]
