"""The *web* process: pages, REST and MCP, served by Granian (WSGI)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "novum.settings")

application = get_wsgi_application()
