"""One prepared statement, over psycopg's own layer of libpq.

A cursor finds out at each call which types the parameters have, whether to prepare and
what came back. For the few statements that a fleet sends all day long, that took twice
as long as this does.
"""

from collections.abc import Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

import psycopg
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

type Connection = psycopg.Connection[Any]

# The names of what each session has prepared; gone with its connection.
_names: WeakKeyDictionary[Connection, dict[bytes, bytes]] = WeakKeyDictionary()
_GOOD = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)


def execute(
    connection: Connection, statement: bytes, values: Sequence[Any]
) -> PGresult:
    """The statement's result; its parameters are $1, $2, … and take their types from
    where they stand.

    Outside of autocommit it begins a transaction where there is none, as a cursor
    would. Raises psycopg's errors.
    """
    link = connection.pgconn
    if not connection.autocommit and link.transaction_status == TransactionStatus.IDLE:
        _checked(link, link.exec_(b"BEGIN"))
    names = _names.setdefault(connection, {})
    if statement not in names:
        name = b"novum_%d" % len(names)
        _checked(link, link.prepare(name, statement))
        names[statement] = name
    # Its annotation has no None for NULL, which it takes.
    written = cast("list[bytes]", [_written(value) for value in values])
    return _checked(link, link.exec_prepared(names[statement], written))


def _checked(link: PGconn, result: PGresult) -> PGresult:
    if result.status in _GOOD:
        return result
    if link.status == ConnStatus.BAD and not result.error_field(ord("C")):
        raise psycopg.OperationalError(link.get_error_message())
    raise error_from_result(result)


def _written(value: Any) -> bytes | None:
    text = _text(value)
    if text is None:
        return None
    if "\0" in text:
        raise psycopg.DataError("PostgreSQL's texts cannot hold U+0000")
    return text.encode()


def _text(value: Any) -> str | None:
    """As PostgreSQL reads it."""
    if value is None:
        return None
    if isinstance(value, list):
        return "{" + ",".join(map(_element, value)) + "}"
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)


def _element(value: Any) -> str:
    text = _text(value)
    if text is None:
        return "NULL"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
