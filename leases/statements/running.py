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
from django.db import connection, transaction
from django.db.models import QuerySet
from psycopg import sql
from psycopg.adapt import Transformer
from psycopg.pq.abc import PGresult

from leases.statements import prepared

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
    with transaction.atomic():  # outside of one, Django makes no row lock into SQL
        text, values = queryset.query.sql_with_params()
    names = {value: name for name, value in parameters.items()}
    parts = text.split("%s")
    assert len(parts) == len(values) + 1
    out = parts[0]
    for value, rest in zip(values, parts[1:], strict=True):
        if value in names:
            out += f"%({names[value]})s{rest}"
        else:
            out += sql.quote(value) + rest
    return out


def run(statement: str, parameters: Mapping[str, Any]) -> list[Any]:
    """Run one prepared statement on Django's connection; rows as named tuples.

    In autocommit mode it is a transaction of its own. Raises Django's database errors.
    """
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    raw = connection.connection
    assert raw is not None
    text, names = _numbered(statement)

    def execute(statement: str, values: Any, many: bool, context: Any) -> PGresult:
        return prepared.execute(raw, text, [values[name] for name in names])

    wrapped = execute
    for wrapper in reversed(connection.execute_wrappers):
        wrapped = partial(wrapper, wrapped)
    with connection.wrap_database_errors:
        result = wrapped(statement, parameters, False, {"connection": connection})
    return _rows(raw, statement, result)


def _rows(raw: psycopg.Connection[Any], statement: str, result: PGresult) -> list[Any]:
    if not result.nfields:
        return []
    if statement not in _ROWS:
        names = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
        _ROWS[statement] = namedtuple("Row", names)
    transformer = Transformer(raw)
    transformer.set_pgresult(result)
    return transformer.load_rows(0, result.ntuples, _ROWS[statement]._make)


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
