from django.urls import URLPattern, path

from novum.web import queues

_QUEUE = "queues/<uuid:column_id>"

urlpatterns: list[URLPattern] = [
    path("queues", queues.queues, name="queues"),
    path(_QUEUE, queues.queue, name="queue"),
    path(f"{_QUEUE}/pause", queues.pause, name="queue-pause"),
    path(f"{_QUEUE}/resume", queues.resume, name="queue-resume"),
]
