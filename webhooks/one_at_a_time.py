"""So many runs of the delivery loop at a time, in the whole deployment.

Each has a number and a row, which whoever runs takes for some seconds and renews. A
killed worker's is another's when its time is up. No lock of a database session, which
wouldn't fit a pool that hands sessions out by transaction. Two with one number, after a
process stood still for too long, do no harm: deliveries are taken row by row.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from uuid import UUID

from django.db import DatabaseError, connection

from accounts.ids import new_id

KEPT_SECONDS, RENEW_SECONDS = 20.0, 5.0

_UNTIL = "clock_timestamp() + make_interval(secs => %(seconds)s)"
_TAKE = f"""
INSERT INTO webhooks_turn AS t (number, holder, until)
VALUES (%(number)s, %(holder)s, {_UNTIL})
ON CONFLICT (number) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE t.until <= clock_timestamp()
RETURNING number
"""
_RENEW = f"""
UPDATE webhooks_turn SET until = {_UNTIL}
WHERE number = %(number)s AND holder = %(holder)s RETURNING number
"""

log = logging.getLogger(__name__)


@contextmanager
def turn(number: int) -> Iterator[Callable[[], bool] | None]:
    """Have this number meanwhile: tells whether it was lost. None: another one has it."""
    mine = _Turn(number)
    if not mine.ask(_TAKE):
        yield None
        return
    thread = threading.Thread(target=mine.keep, name="webhooks-turn", daemon=True)
    thread.start()
    try:
        yield mine.is_lost
    finally:
        mine.over.set()
        thread.join()
        mine.give_back()


class _Turn:
    def __init__(self, number: int) -> None:
        self.number, self.holder = number, new_id()
        self.over = threading.Event()
        # By this process's clock, and never later than by the database's.
        self.until = 0.0

    def is_lost(self) -> bool:
        return monotonic() >= self.until

    def ask(self, statement: str, seconds: float | None = None) -> bool:
        """Whether it's mine, for so long from now on."""
        seconds, asked_at = KEPT_SECONDS if seconds is None else seconds, monotonic()
        given: dict[str, float | UUID] = {"number": self.number, "holder": self.holder}
        with connection.cursor() as cursor:
            cursor.execute(statement, {**given, "seconds": seconds})
            has_it = cursor.fetchone() is not None
        self.until = asked_at + seconds if has_it else 0.0
        return has_it

    def keep(self) -> None:
        """In a thread of its own, since the loop has no time to look after it."""
        while not self.over.wait(RENEW_SECONDS):
            try:
                if not self.ask(_RENEW):
                    return
            except DatabaseError as error:
                log.warning("The turn could not be renewed: %s", error)
            finally:
                connection.close()

    def give_back(self) -> None:
        try:
            self.ask(_RENEW, seconds=0.0)
        except DatabaseError as error:
            log.warning("The turn could not be given back: %s", error)
