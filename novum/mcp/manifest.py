"""All tools as plain JSON, for whoever speaks no MCP (yet)."""

from functools import cache

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from novum.mcp.endpoint import PATH
from novum.mcp.server import INSTRUCTIONS, REVISIONS, TOOLS


@cache
def _encoded() -> bytes:
    return msgspec.json.encode(
        {
            "name": "novum",
            "path": PATH,
            "protocol_versions": REVISIONS,
            "instructions": INSTRUCTIONS,
            "tools": [tool.definition() for tool in TOOLS],
        }
    )


@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """Open to everybody, as the OpenAPI document is: nothing of a workspace is here."""
    return HttpResponse(_encoded(), content_type="application/json")
