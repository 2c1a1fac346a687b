from django.urls import URLPattern, path

from novum.web import inbox, my, tasks

_MINE = "my/<uuid:task_id>"

urlpatterns: list[URLPattern] = [
    path("my", my.my, name="my"),
    path("my/add", my.add, name="my-add"),
    path(f"{_MINE}/start", my.start, name="my-start"),
    path(f"{_MINE}/finish", my.finish, name="my-finish"),
    path(f"{_MINE}/give-back", my.give_back, name="my-give-back"),
    path(f"{_MINE}/decline", my.decline, name="my-decline"),
    path(f"{_MINE}/priority", my.prioritize, name="my-priority"),
    path(f"{_MINE}/move", my.move, name="my-move"),
    path(f"{_MINE}/hand-over", my.hand_over, name="my-hand-over"),
    path("tasks", tasks.tasks, name="tasks"),
    path("tasks/older/<slug:state>", tasks.older, name="tasks-older"),
    path("tasks/<uuid:task_id>", tasks.task, name="task"),
    path("messages", inbox.messages, name="messages"),
    path("messages/read", inbox.read, name="messages-read"),
    path("profile/mail", inbox.mail, name="my-mail"),
]
