"""Behind a pool that hands out sessions by transaction, what a session is to be like
can't be said by whoever opens it: it has to be the role's."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections


@register(Tags.database)
def session_is_as_wanted(
    *, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """For `migrate` and `check --database default`."""
    if not settings.DATABASE_POOLER or "default" not in (databases or ()):
        return []
    return [
        Warning(
            f"Sessions of the database have {one.name} = {one.value}, not {one.wanted}.",
            hint=f'ALTER ROLE "{one.role}" IN DATABASE "{one.database}"'
            f" SET {one.name} = '{one.wanted}'; and end the pool's sessions.",
            id="novum.W001",
        )
        for one in differences()
    ]


class Difference(NamedTuple):
    name: str
    value: str
    role: str
    database: str
    wanted: str


def differences() -> list[Difference]:
    """What this session has otherwise than novum.settings wants it."""
    wanted: dict[str, str] = settings.DATABASE_SESSION
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT name, setting, current_user, current_database() FROM pg_settings"
            " WHERE name = ANY(%s) ORDER BY name",
            [list(wanted)],
        )
        rows = cursor.fetchall()
    return [
        Difference(name, value, role, database, wanted[name])
        for name, value, role, database in rows
        if value != wanted[name]
    ]
