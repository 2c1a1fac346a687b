"""The *web* process: pages, REST and MCP, served by Granian (WSGI)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "novum.settings")

_application = get_wsgi_application()

# It looks at all operations, so Django has to be set up.
from novum.rest.direct import direct  # noqa: E402

application = direct(_application)
