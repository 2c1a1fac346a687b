"""The *web* process: pages, REST and MCP, served by Granian (WSGI)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "novum.settings")

_django = get_wsgi_application()

# They look at all operations, so Django has to be set up.
from novum.front import in_front_of  # noqa: E402
from novum.mcp import endpoint as mcp  # noqa: E402
from novum.rest import direct as rest  # noqa: E402

application = in_front_of(_django, rest.find, mcp.find)
