"""The routes of all operations, grouped by path."""

import re
from collections import defaultdict

from django.urls import URLPattern, path

from novum.operations.operation import Operation
from novum.operations.registry import OPERATIONS
from novum.rest import documents, health, listing
from novum.rest.views import OperationView

_PARAMETER = re.compile(r"{(\w+)}")


def _route(operation_path: str) -> str:
    """Names have no colon and ids are UUIDs: `<str:…>` would swallow the verb behind
    the colon."""

    def converter(found: re.Match[str]) -> str:
        kind = "slug" if found[1] in ("handle", "queue") else "uuid"
        return f"<{kind}:{found[1]}>"

    return _PARAMETER.sub(converter, operation_path.lstrip("/"))


def _patterns() -> list[URLPattern]:
    by_path: dict[str, dict[str, Operation]] = defaultdict(dict)
    for operation in OPERATIONS:
        for each in (operation.path, *operation.aliases):
            by_path[each][operation.method] = operation
    return [
        path(
            _route(each),
            OperationView.as_view(operations=operations),
            name="-".join(sorted(one.name for one in operations.values())),
        )
        for each, operations in by_path.items()
    ]


urlpatterns = [
    *_patterns(),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("openapi.json", documents.openapi_json, name="openapi"),
    path("operations.json", listing.operations_json, name="operations"),
    path("docs", documents.docs, name="docs"),
]
