"""What workers call most by REST, found without Django's search through all addresses:
POST with a token, at an address all of whose parameters are ids."""

import re
from collections.abc import Callable
from functools import cache, partial

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from novum.front import Environ
from novum.operations.operation import Operation
from novum.operations.registry import OPERATIONS
from novum.rest.shortcut import answered

# As Django's addresses have them (django.urls.converters).
_ID = re.compile(r"([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})")
_PARAMETER = re.compile(r"{(\w+)}")
_NAMES = {"handle", "queue"}


@cache
def _routes() -> dict[str, tuple[Operation, list[str]]]:
    """By the address with `{}` for each id: the operation and the ids' names."""
    found = {}
    for operation in OPERATIONS:
        for path in (operation.path, *operation.aliases):
            names = _PARAMETER.findall(path)
            if operation.method == "POST" and not _NAMES.intersection(names):
                shape = _PARAMETER.sub("{}", path)
                found[f"/v1{shape}"] = (operation, names)
    return found


def find(environ: Environ) -> Callable[[HttpRequest], HttpResponseBase] | None:
    if environ["REQUEST_METHOD"] != "POST" or not environ.get("HTTP_AUTHORIZATION"):
        return None
    # What stands between the ids, and the ids, by turns.
    parts = _ID.split(environ["PATH_INFO"])
    route = _routes().get("{}".join(parts[::2]))
    if route is None:
        return None
    operation, names = route
    ids = dict(zip(names, parts[1::2], strict=True))
    return partial(answered, operation=operation, path=ids)
