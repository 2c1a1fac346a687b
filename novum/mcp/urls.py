from django.urls import path

from novum.mcp.endpoint import endpoint
from novum.mcp.manifest import manifest

urlpatterns = [
    path("mcp", endpoint, name="mcp"),
    path("mcp/manifest", manifest, name="mcp-manifest"),
]
