"""The *live* process: what has to wait or to stay open, served by Daphne (ASGI).

One Daphne alone can also serve everything (small installs, `runserver`).
"""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "novum.settings")

application = ProtocolTypeRouter({"http": get_asgi_application()})
