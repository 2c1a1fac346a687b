"""A statement on a session with the database, by libpq itself.

psycopg's cursor looks anew, in Python, how to write each value and how to read each
column, which for a claim takes as long as the rest of the verb. Here values are written
as text, whose types PostgreSQL finds out from the statement, and rows come in binary form
to psycopg's loaders, found once per session. Transactions are psycopg's business still.
"""

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import msgspec
import psycopg
from django.conf import settings
from psycopg import adapt, pq
from psycopg.errors import error_from_result
from psycopg.pq.abc import PGconn, PGresult

type Connection = psycopg.Connection[Any]

_GOOD = {pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK}
# A plan takes some hundred kilobytes of the server's memory.
MOST_PREPARED = 100
# What was prepared is from before a migration, or isn't there any more: the first
# statement that finds it so has done nothing yet.
_OUTDATED = {"0A000", "26000"}
# In psycopg's own words.
_NUL = "PostgreSQL text fields cannot contain NUL (0x00) bytes"


class _Json(adapt.Loader):
    """As it is, to be passed on. Its binary form is a version and then the text."""

    format = pq.Format.BINARY

    def load(self, data: Any) -> msgspec.Raw:
        return msgspec.Raw(bytes(data[1:]))


class _Reading:
    """How columns are read. Of no connection, since it outlives them: times are UTC."""

    connection = None

    def __init__(self) -> None:
        self.adapters = adapt.AdaptersMap(psycopg.adapters)
        self.adapters.register_loader("jsonb", _Json)


_reading = _Reading()


class _Session:
    def __init__(self) -> None:
        self.reader = adapt.Transformer(_reading)
        self._prepared: dict[bytes, bytes] = {}
        self._number = 0

    def sent(self, pgconn: PGconn, statement: bytes, values: list[Any]) -> PGresult:
        """Its result, or an error of psycopg's."""
        if settings.DATABASE_POOLER:
            result = pgconn.exec_params(
                statement, values, result_format=pq.Format.BINARY
            )
            return _good(pgconn, result)
        try:
            return self._run(pgconn, statement, values)
        except psycopg.Error as error:
            if error.sqlstate not in _OUTDATED:
                raise
            # It isn't there where preparing it is what went wrong.
            self._prepared.pop(statement, None)
            if pgconn.transaction_status != pq.TransactionStatus.IDLE:
                raise
        return self._run(pgconn, statement, values)

    def _run(self, pgconn: PGconn, statement: bytes, values: list[Any]) -> PGresult:
        name = self._prepared.pop(statement, None) or self._name(pgconn, statement)
        # The last in it is the one used last.
        self._prepared[statement] = name
        result = pgconn.exec_prepared(name, values, None, pq.Format.BINARY)
        return _good(pgconn, result)

    def _name(self, pgconn: PGconn, statement: bytes) -> bytes:
        if len(self._prepared) >= MOST_PREPARED:
            oldest = self._prepared.pop(next(iter(self._prepared)))
            _good(pgconn, pgconn.exec_(b"DEALLOCATE " + oldest))
        self._number += 1
        name = b"novum_%d" % self._number
        _good(pgconn, pgconn.prepare(name, statement))
        return name


_sessions: WeakKeyDictionary[Connection, _Session] = WeakKeyDictionary()


def execute(
    connection: Connection, statement: bytes, values: Sequence[Any]
) -> list[Any]:
    """Its rows as named tuples. `statement` has $1, $2, …; raises psycopg's errors."""
    session = _sessions.get(connection)
    if session is None:
        session = _sessions[connection] = _Session()
    pgconn = connection.pgconn
    if not connection.autocommit and (
        pgconn.transaction_status == pq.TransactionStatus.IDLE
    ):
        # psycopg begins a transaction with the first statement that is its own.
        connection.execute("SELECT")
    result = session.sent(pgconn, statement, [_written(value) for value in values])
    if not result.nfields:
        return []
    reader = session.reader
    reader.set_pgresult(result, format=pq.Format.BINARY)
    try:
        return reader.load_rows(0, result.ntuples, _row(statement, result))
    finally:
        reader.set_pgresult(None)


def _good(pgconn: PGconn, result: PGresult) -> PGresult:
    if result.status in _GOOD:
        return result
    if pgconn.status == pq.ConnStatus.BAD:
        raise psycopg.OperationalError(result.get_error_message())
    raise error_from_result(result)


# The shape of each statement's rows: reading it anew costs as much as the rows.
_rows: dict[bytes, Callable[[Sequence[Any]], Any]] = {}


def _row(statement: bytes, result: PGresult) -> Callable[[Sequence[Any]], Any]:
    if statement not in _rows:
        fields = [result.fname(at) or b"" for at in range(result.nfields)]
        names = [field.decode() for field in fields]
        _rows[statement] = partial(tuple.__new__, namedtuple("Row", names))
    return _rows[statement]


def _written(value: Any) -> bytes | None:
    """Raises DataError for a text with U+0000, as psycopg does, and UnicodeEncodeError
    for half of a surrogate pair."""
    if value is None:
        return None
    if type(value) is UUID:
        return value.hex.encode()
    if type(value) is list:
        written = f"{{{','.join(map(_element, value))}}}".encode()
    else:
        written = _text(value).encode()
    # libpq takes it for the end of the value: what follows would be lost unnoticed.
    # Asked for as a number it's found eight times as fast as by b"\0".
    if 0 in written:
        raise psycopg.DataError(_NUL)
    return written


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    if type(value) is UUID:
        return value.hex
    text = _text(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _text(value: Any) -> str:
    if type(value) is UUID:
        return value.hex
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    return str(value)
