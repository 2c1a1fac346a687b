"""What needs somebody, with what installed apps on top bring (novum.parts).

Such an app's AppConfig names a module under `needs`, with `needs(caller)`: all of it as
`Need`s, and `count(caller)`.
"""

from time import monotonic
from uuid import UUID

from accounts.callers import Caller
from novum.parts import parts
from supervision.needs import looking
from supervision.needs.looking import Wanted
from supervision.needs.shapes import Needs

REMEMBERED_SECONDS = 15.0
MOST_REMEMBERED = 10_000

_known: dict[UUID, tuple[float, int]] = {}


def needs(caller: Caller, wanted: Wanted) -> Needs:
    """Raises NotFound (the board)."""
    brought = [one for part in parts("needs") for one in part.needs(caller)]
    if wanted.mine:
        brought = [one for one in brought if _is_theirs(caller, one.holder)]
    return looking.needs(caller, wanted, brought=brought)


def alarm(caller: Caller) -> int:
    """For the badge: what the caller could settle; above looking.BADGE_CAP it's no
    exact number any more. Remembered for `remembered_alarm`."""
    ours = looking.alarm(caller)
    found: int = ours + sum(part.count(caller) for part in parts("needs"))
    if len(_known) >= MOST_REMEMBERED:
        _known.clear()
    _known[caller.actor_id] = (monotonic(), found)
    return found


def remembered_alarm(caller: Caller) -> int | None:
    """What `alarm` said in this process a moment ago, if it did: no page waits for the
    badge, which looks anew by itself (static/js/alarm.js)."""
    at, found = _known.get(caller.actor_id, (float("-inf"), 0))
    return found if monotonic() - at < REMEMBERED_SECONDS else None


def forget() -> None:
    _known.clear()


def _is_theirs(caller: Caller, holder: object) -> bool:
    return getattr(holder, "id", None) == caller.actor_id
