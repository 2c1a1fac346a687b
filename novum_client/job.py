"""What a worker's function gets: the card, and its ties to the people around it."""

from collections.abc import Callable
from typing import Any

from novum_client.client import Client
from novum_client.errors import Cancelled, LeaseLost
from novum_client.hold import Hold
from novum_client.shapes import Comment


class Job:
    """One attempt at one card. All of it may be used from several threads.

    When the work has to stop (the lease is lost, somebody has called the card off, the
    worker ends) an async function's task is cancelled. A thread can't be stopped from
    outside, and this package doesn't try (an exception that lands between any two
    instructions breaks what it hits): a sync function learns it from `check()` and
    `progress()`, which raise LeaseLost, Cancelled or Stopped. Call one of them now and
    then in long work. What a function returns after its lease was lost is dropped.
    """

    def __init__(self, hold: Hold, client: Client, nudge: Callable[[], None]) -> None:
        self._hold, self._nudge = hold, nudge
        self.client = client
        """For calls of one's own, such as making the next card."""

    @property
    def card(self) -> dict[str, Any]:
        """All that the server has told with the claim."""
        return self._hold.lease.card

    @property
    def id(self) -> str:
        return str(self.card["id"])

    @property
    def key(self) -> str:
        """For people: NOV-12."""
        return str(self.card["key"])

    @property
    def title(self) -> str:
        return str(self.card["title"])

    @property
    def description(self) -> str:
        return str(self.card["description"])

    @property
    def payload(self) -> Any:
        return self.card["payload"]

    @property
    def labels(self) -> list[str]:
        return list(self.card["labels"])

    @property
    def attempt(self) -> int:
        """1 for the first one."""
        return self._hold.lease.attempt

    @property
    def comments(self) -> list[Comment]:
        """Others' remarks since the claim; they come with the heartbeats."""
        return list(self._hold.comments)

    @property
    def cancelled(self) -> bool:
        """Somebody has called the card off: put it down."""
        return isinstance(self._hold.interruption, Cancelled)

    @property
    def lost(self) -> bool:
        """Somebody else may have the card by now."""
        return isinstance(self._hold.interruption, LeaseLost)

    def check(self) -> None:
        """Nothing, while the work may go on. Raises LeaseLost, Cancelled, Stopped."""
        if why := self._hold.interruption:
            raise why

    def progress(self, doing: str) -> None:
        """One line for the board, soon and without waiting for it; of many within a
        second the last. Raises what `check` raises."""
        self.check()
        self._hold.say(doing)
        self._nudge()

    def __repr__(self) -> str:
        return f"<Job {self.key} attempt {self.attempt}>"
