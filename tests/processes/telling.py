"""The WSGI application, which says in its log when a result is stored without a look at
its lease."""

import sys
from collections.abc import Mapping
from typing import Any

from novum.wsgi import application  # noqa: F401  Django must be set up for the rest.

from leases.statements import completing  # isort: skip
from tests.ways import is_at_once  # isort: skip

AT_ONCE = "stored at once"
_run = completing.run


def telling(statement: str, parameters: Mapping[str, Any]) -> list[Any]:
    if is_at_once(statement):
        print(AT_ONCE, file=sys.stderr, flush=True)  # noqa: T201
    return _run(statement, parameters)


completing.run = telling
