"""What goes wrong between a worker and the server, what a worker's function may raise,
and what is raised inside it."""

from datetime import datetime
from typing import Any


class NovumError(Exception):
    """Of every error in a call."""


class Unreached(NovumError):
    """No answer came. `sent` when the call may have been done all the same."""

    def __init__(self, text: str, *, sent: bool) -> None:
        super().__init__(text)
        self.sent = sent


class Refused(NovumError):
    """The server said no. `problem` is its problem document (RFC 9457), `code` the
    stable name of what is wrong (empty for an answer that is none of Novum's)."""

    def __init__(
        self, status: int, problem: dict[str, Any], retry_after: float | None = None
    ) -> None:
        self.status, self.problem = status, problem
        self.code = str(problem.get("code") or "")
        self.retry_after_seconds = retry_after
        detail = problem.get("detail") or problem.get("title") or "No reason given."
        fields = [_field(one) for one in problem.get("errors") or []]
        super().__init__(" ".join([f"{self.code or 'error'} ({status}):", str(detail)]
            + [one for one in fields if one]))  # fmt: skip

    @property
    def passes(self) -> bool:
        """Whether the same call may be answered better later."""
        busy = self.status == 429 or self.status >= 500
        return busy or self.code == "idempotency_key_in_use"


def _field(error: dict[str, Any]) -> str:
    pointer, detail = error.get("pointer", ""), error.get("detail", "")
    return f"{pointer}: {detail}" if pointer else str(detail)


# For a worker's function to raise.


class Retry(Exception):
    """This attempt failed; another may not. It counts, and the card opens again behind
    the contract's backoff, or after `after_seconds`. Every other exception of the
    function means the same."""

    def __init__(self, reason: str = "", *, after_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.after_seconds = after_seconds


class WaitUntil(Exception):
    """It can't be done before `until` (with a timezone), out of nobody's fault: a quota
    is used up. The attempt isn't counted, at most 20 times or for six hours."""

    def __init__(self, until: datetime, reason: str = "") -> None:
        if until.tzinfo is None:
            raise ValueError("WaitUntil needs a time with a timezone.")
        super().__init__(reason)
        self.until = until


class Fatal(Exception):
    """No attempt can succeed: dead-letter the card now."""


# Raised inside a worker's function.


class Interrupted(BaseException):
    """Put the work down. Like asyncio.CancelledError it is no Exception, so that an
    `except Exception` in the work doesn't swallow it."""


class LeaseLost(Interrupted):
    """Somebody else may have the card by now; what is done from here on is lost."""


class Cancelled(Interrupted):
    """Somebody has called the card off."""


class Stopped(Interrupted):
    """The worker ends, and its time of grace is over: the card is given back."""
