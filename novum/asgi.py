"""The *live* process: what has to wait or to stay open, served by Daphne (ASGI).

One Daphne alone can also serve everything (small installs, `runserver`).
"""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "novum.settings")

# First of all: it loads the apps, without which nothing below can be imported.
http = get_asgi_application()

from django.urls import path  # noqa: E402

from novum.incoming import Readable  # noqa: E402
from novum.logs.calls import Called  # noqa: E402
from novum.rest.feed import Feed  # noqa: E402
from novum.waiting import Waiting  # noqa: E402
from novum.web.inbox_live import PersonSocket  # noqa: E402
from novum.web.live import BoardSocket  # noqa: E402

sockets = [
    path("live/boards/<uuid:board_id>", BoardSocket.as_asgi()),
    path("live/me", PersonSocket.as_asgi()),
]
application = ProtocolTypeRouter(
    {
        # Whoever waits for events or for a card holds no thread of Django's.
        "http": Called(Readable(Feed(Waiting(http)))),
        # No page of another host may open a socket with its visitors' cookies.
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(URLRouter(sockets))
        ),
    }
)
