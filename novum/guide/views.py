"""What the server says of itself to an agent that has only its address and a token.

Addresses, operations, errors and what to do about them come from the declarations; the
loop itself is told in `templates/guide/`.
"""

import re
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from novum.operations.advice import NEXT_STEPS
from novum.operations.operation import Operation
from novum.operations.registry import OPERATIONS

# The loop's calls, by the word that the text has for each.
LOOP = {
    "boards": "list_boards",
    "columns": "list_columns",
    "contract": "get_column_contract",
    "claim": "claim_next_card",
    "by_name": "tasks.claim",
    "renew": "renew_lease",
    "complete": "complete_lease",
    "fail": "fail_lease",
    "release": "release_lease",
}
# A name in an address, and where the loop has it from.
_FROM = {
    "board_id": "board.id",
    "column_id": "column.id",
    "lease_id": "claim.lease.id",
}
_NAME = re.compile(r"{(\w+)}")


@require_safe
def llms_txt(request: HttpRequest) -> HttpResponse:
    return _answer("guide/llms.txt", "text/plain")


@require_safe
def agents_md(request: HttpRequest) -> HttpResponse:
    return _answer("guide/agents.md", "text/markdown")


def _answer(template: str, kind: str) -> HttpResponse:
    """Open to everybody: nothing of any workspace is in it."""
    text = render_to_string(template, _context())
    return HttpResponse(text, content_type=f"{kind}; charset=utf-8")


def _context() -> dict[str, Any]:
    return {
        "url": settings.NOVUM_URL,
        "live_url": settings.NOVUM_LIVE_URL,
        "call": {word: _call(_operation(name)) for word, name in LOOP.items()},
        "errors": NEXT_STEPS.items(),
        "lost": NEXT_STEPS["lease_lost"],
        "rejected": NEXT_STEPS["output_rejected"],
        "limited": NEXT_STEPS["rate_limited"],
        "groups": _groups(),
    }


def _operation(name: str) -> Operation:
    return next(one for one in OPERATIONS if one.name == name)


def _call(operation: Operation) -> str:
    """Method and address; the names of the loop in braces."""
    path = _NAME.sub(lambda found: "{" + _FROM[found[1]] + "}", operation.path)
    return f"{operation.method} {settings.NOVUM_URL}/v1{path}"


def _groups() -> dict[str, list[dict[str, str]]]:
    groups: dict[str, list[dict[str, str]]] = {}
    for one in OPERATIONS:
        groups.setdefault(one.noun, []).append(
            {
                "name": one.name,
                "call": f"{one.method} /v1{one.path}",
                "summary": one.summary,
            }
        )
    return groups
