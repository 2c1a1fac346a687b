"""The map of all doors."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views import defaults
from django.views.csrf import csrf_failure as default_csrf_failure

from novum import problems

urlpatterns = [
    path("v1/", include("novum.rest.urls")),
    path("v1/", include("novum.mcp.urls")),
    path("", include("novum.guide.urls")),
    path("", include("novum.metrics.urls")),
    path("admin/", admin.site.urls),
    path("", include("novum.web.urls")),
]


def _is_rest(request: HttpRequest) -> bool:
    return request.path.startswith("/v1/")


def handler400(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_rest(request):
        return problems.plain(request, exception)
    return defaults.bad_request(request, exception)


def handler403(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_rest(request):
        return problems.plain(request, exception)
    return defaults.permission_denied(request, exception)


def handler404(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_rest(request):
        return problems.plain(request, exception)
    return defaults.page_not_found(request, exception)


def handler500(request: HttpRequest) -> HttpResponse:
    if _is_rest(request):
        return problems.plain(request, RuntimeError())
    return defaults.server_error(request)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if _is_rest(request):
        return problems.plain(request, PermissionDenied(reason))
    return default_csrf_failure(request, reason)
