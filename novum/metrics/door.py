"""`/metrics` for Prometheus: by token, or from the addresses that may."""

from hmac import compare_digest
from ipaddress import ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client.exposition import choose_encoder

from accounts.errors import TooManyRequests
from novum.limits import address_of, guessed
from novum.metrics.collecting import registry
from novum.problems import refusal_headers

REFUSED = (
    "Not for you: send NOVUM_METRICS_TOKEN as a bearer token, or come from an address"
    " in NOVUM_METRICS_ALLOW.\n"
)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Everything, in the format that was asked for."""
    if not (_has_token(request) or _may_by_address(request)):
        return _refusal(request)
    encoder, kind = choose_encoder(request.headers.get("Accept", ""))
    response = HttpResponse(encoder(registry), content_type=kind)
    response["Cache-Control"] = "no-store"
    return response


def _has_token(request: HttpRequest) -> bool:
    token: str = settings.METRICS_TOKEN
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    return (
        bool(token)
        and kind.lower() == "bearer"
        and compare_digest(given.strip().encode(), token.encode())
    )


def _may_by_address(request: HttpRequest) -> bool:
    """Behind a proxy that nobody has said to trust, all addresses are the proxy's."""
    if "X-Forwarded-For" in request.headers and not settings.TRUSTED_PROXIES:
        return False
    try:
        address = ip_address(address_of(request))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return any(
        mapped in ip_network(one, strict=False) for one in settings.METRICS_ALLOW
    )


def _refusal(request: HttpRequest) -> HttpResponse:
    if "Authorization" in request.headers:
        try:
            guessed(request)
        except TooManyRequests as error:
            return HttpResponse(status=429, headers=refusal_headers(error))
    return HttpResponse(REFUSED, status=403, content_type="text/plain")
