"""How the four verbs talk to PostgreSQL: one statement each, prepared on the server.

A conversation by ORM costs 4.6 times as much, planning a claim as much as running it.
The cards are still picked by a queryset (`embedded`), so the rule "which card is next"
is written once, in `boards.models`.
"""

import re
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import QuerySet
from psycopg import sql

from leases.statements.sessions import execute

_PARAMETER = re.compile(r"%\((\w+)\)s")


def compact(statement: str) -> str:
    """Without the layout, which would be sent and compared each time."""
    return re.sub(r"\s+", " ", statement).strip()


@cache
def _numbered(statement: str) -> tuple[bytes, tuple[str, ...]]:
    """With $1, $2, … for the names, and those names: once per statement, where psycopg
    would take a long statement apart at every call."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(statement)))
    text = _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", statement)
    return text.encode(), names


def embedded(queryset: QuerySet[Any], **parameters: object) -> str:
    """The queryset's SQL, to stand inside a statement.

    Values equal to one of `parameters` become `%(name)s`; all others are written out,
    because a partial index is only found by a prepared plan when its condition is a
    constant in the text.
    """
    # Outside of a transaction Django makes no row lock into SQL.
    with transaction.atomic(savepoint=False):
        text, values = queryset.query.sql_with_params()
    parts = text.split("%s")
    assert len(parts) == len(values) + 1
    out = parts[0]
    for value, rest in zip(values, parts[1:], strict=True):
        name = next((key for key in parameters if parameters[key] == value), None)
        out += (f"%({name})s" if name else sql.quote(value)) + rest
    return out


def run(statement: str, parameters: Mapping[str, Any]) -> list[Any]:
    """Run one prepared statement on Django's connection; rows as named tuples, with
    JSON as it came (msgspec.Raw).

    In autocommit mode it is a transaction of its own. Raises Django's database errors.
    """
    # Asked for once: the name `connection` would look for the thread's at each mention.
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    database.validate_no_broken_transaction()
    raw = database.connection
    assert raw is not None
    text, names = _numbered(statement)
    values = [parameters[name] for name in names]
    with database.wrap_database_errors:
        if not database.execute_wrappers:
            return execute(raw, text, values)
        rows: list[Any] = []

        def wrapped(statement: str, values: Any, many: bool, context: Any) -> None:
            rows.extend(execute(raw, text, values))

        for wrapper in reversed(database.execute_wrappers):
            wrapped = partial(wrapper, wrapped)
        wrapped(statement, values, False, {"connection": database})
        return rows
