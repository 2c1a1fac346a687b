"""What the worker's loops are and how often they're due: ours and those of the apps."""

from typing import Any

from django.conf import settings

from novum.parts import parts

FORGET_SECONDS = 3600.0


def ours() -> dict[str, dict[str, Any]]:
    """By the loop's name, as Celery's beat takes it."""
    return {
        "reap": {
            "task": "leases.background.reap",
            "schedule": settings.REAP_SECONDS,
            # A stalled worker must not find a heap of stale reaps when it comes back.
            "options": {"expires": settings.REAP_SECONDS * 2},
        },
        "housekeeping": {
            "task": "novum.background.housekeeping",
            "schedule": settings.HOUSEKEEPING_SECONDS,
            "options": {"expires": settings.HOUSEKEEPING_SECONDS},
        },
        "forget-leases": {
            "task": "novum.background.forget_leases",
            "schedule": FORGET_SECONDS,
            "options": {"expires": FORGET_SECONDS},
        },
    }


def timetable() -> dict[str, dict[str, Any]]:
    """All of it, once Django has loaded the apps."""
    found = ours()
    for part in parts("timetable"):
        found.update(part.TIMETABLE)
    return found


def tell_themselves() -> frozenset[str]:
    """The loops that say when they ran, since the end of their job tells nothing."""
    return frozenset(
        name
        for part in parts("timetable")
        for name in getattr(part, "TELL_THEMSELVES", ())
    )
