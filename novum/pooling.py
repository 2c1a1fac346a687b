"""Behind a pool that hands out sessions by transaction, what a session is to be like
can't be said by whoever opens it: it has to be the role's."""

from collections.abc import Sequence
from typing import Any

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
    wanted: dict[str, str] = settings.DATABASE_SESSION
    connection = connections["default"]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, setting, current_user, current_database() FROM pg_settings"
            " WHERE name = ANY(%s)",
            [list(wanted)],
        )
        rows = cursor.fetchall()
    return [
        Warning(
            f"Sessions of the database have {name} = {value}, not {wanted[name]}.",
            hint=f'ALTER ROLE "{role}" IN DATABASE "{database}"'
            f" SET {name} = '{wanted[name]}'; and end the pool's sessions.",
            id="novum.W001",
        )
        for name, value, role, database in sorted(rows)
        if value != wanted[name]
    ]
