"""Ids: UUIDv7 (RFC 9562), rising with time, made in Python.

PostgreSQL makes them itself only from 18 on, the standard library from Python 3.14 on.
"""

from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    return uuid7()
