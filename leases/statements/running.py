"""How the four verbs talk to PostgreSQL: one statement each, prepared on the server.

A conversation by ORM costs 4.6 times as much, planning a claim as much as running it.
The cards are still picked by a queryset (`embedded`), so the rule "which card is next"
is written once, in `boards.models`.
"""

import re
from collections import namedtuple
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import msgspec
import psycopg
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import QuerySet
from psycopg import sql

_PARAMETER = re.compile(r"%\((\w+)\)s")
# The shape of each statement's rows: reading it anew costs as much as the rows.
_ROWS: dict[str, Any] = {}


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
    """Run one prepared statement on Django's connection; rows as named tuples.

    In autocommit mode it is a transaction of its own. Raises Django's database errors.
    """
    # Asked for once: the name `connection` would look for the thread's at each mention.
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    database.validate_no_broken_transaction()
    raw = database.connection
    assert raw is not None
    text, names = _numbered(statement)
    with database.wrap_database_errors, psycopg.RawCursor(raw) as cursor:

        def execute(statement: str, values: Any, many: bool, context: Any) -> None:
            told = [_parameter(values[name]) for name in names]
            cursor.execute(text, told, prepare=True)

        wrapped = execute
        for wrapper in reversed(database.execute_wrappers):
            wrapped = partial(wrapper, wrapped)
        wrapped(statement, parameters, False, {"connection": database})
        if cursor.pgresult is None or not cursor.pgresult.nfields:
            return []
        if statement not in _ROWS:
            columns = [column.name for column in cursor.description or ()]
            _ROWS[statement] = namedtuple("Row", columns)
        return [_ROWS[statement]._make(row) for row in cursor.fetchall()]


def _parameter(value: Any) -> Any:
    """A list as PostgreSQL writes an array: psycopg would look for the type of each
    element, which takes as long as all the rest of sending the statement."""
    if type(value) is not list:
        return value
    return "{" + ",".join(map(_element, value)) + "}"


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    text = f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def raw_json(row: Any, *fields: str) -> Any:
    """The row with its JSON columns as they came, to be passed on without a look."""
    found = {field: getattr(row, field) for field in fields}
    return row._replace(
        **{
            field: msgspec.Raw(text.encode())
            for field, text in found.items()
            if text is not None
        }
    )
