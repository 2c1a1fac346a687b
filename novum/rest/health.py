"""Is it alive, can it work."""

from django.http import HttpRequest, JsonResponse

from novum import health


def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers. Looks at nothing else."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """200 when everything that the deployment consists of is there, else 503; `checks`
    say what isn't. With `?for=calls` only that counts without which no call can be
    served: that's for probes that take a process out of service, for without Redis
    and the loops claims go on."""
    calls = health.for_calls() if request.GET.get("for") == "calls" else None
    checks = health.of_all() if calls is None else calls
    ready = all(told == health.OK for told in checks.values())
    body = {"status": "ready" if ready else "not ready", "checks": checks}
    return JsonResponse(body, status=200 if ready else 503)
