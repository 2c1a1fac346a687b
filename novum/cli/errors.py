"""What ends a command, and the exit code of each kind (they are stable)."""

from typing import Any

DONE = 0
NOTHING = 1  # -q found nothing; the command of `novum work --once` failed
USAGE = 2  # nothing was sent
NOT_ALLOWED = 3
NOT_FOUND = 4
CONFLICT = 5
INVALID = 6
SERVER = 7  # 5xx, 429, or an answer that is none of Novum's
NETWORK = 8  # no answer
FAULT = 70  # of our own (sysexits.h)
INTERRUPTED = 130
BROKEN_PIPE = 141

# The members of a card, a task or a lease that a conflict's line shows.
TELLING = ("key", "handle", "state", "attempts", "version", "expires_at")
_BY_STATUS = {401: NOT_ALLOWED, 403: NOT_ALLOWED, 404: NOT_FOUND}
_BY_STATUS |= {409: CONFLICT, 412: CONFLICT, 428: CONFLICT, 429: SERVER}


class Failure(Exception):
    """`text` is for a person, in one line."""

    code = SERVER

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Usage(Failure):
    """The command line is wrong. Nothing was sent."""

    code = USAGE


class Unreached(Failure):
    """No answer. `sent` when the call may have been done all the same."""

    code = NETWORK

    def __init__(self, text: str, *, sent: bool) -> None:
        super().__init__(text)
        self.sent = sent


class Refused(Failure):
    """The server said no, with a problem document (RFC 9457)."""

    def __init__(self, status: int, problem: dict[str, Any], body: bytes) -> None:
        super().__init__(describe(status, problem))
        self.status, self.problem, self.body = status, problem, body
        self.code = exit_code(status)


def exit_code(status: int) -> int:
    return _BY_STATUS.get(status, INVALID if 400 <= status < 500 else SERVER)


def describe(status: int, problem: dict[str, Any]) -> str:
    """`lease_lost (409): You don't hold it any more. Now: {…}`"""
    detail = str(problem.get("detail") or problem.get("title") or "")
    fields = [_field(one) for one in problem.get("errors") or []]
    text = f"{problem.get('code', 'problem')} ({status}): "
    # A detail that only repeats the one field's is left out.
    told = [one for one in (detail, *fields) if one]
    if fields and any(detail and one.endswith(detail) for one in fields):
        told = fields
    text += " ".join(told)
    if present := _present(problem.get("current")):
        text += f" Now: {present}."
    return text


def _field(error: dict[str, Any]) -> str:
    name = str(error.get("pointer", "")).strip("/").replace("/", ".")
    detail = str(error.get("detail", ""))
    return f"{name}: {detail}" if name else detail


def _present(current: Any) -> str:
    """What a conflict is about, as it stands now, in a few words (`--raw` has all)."""
    told: list[str] = []
    for name, value in current.items() if isinstance(current, dict) else ():
        if isinstance(value, dict):
            shown = {one: value.get(one) for one in TELLING}
            told += [f"{one} {of}" for one, of in shown.items() if of is not None]
        elif value is not None and not isinstance(value, list):
            told.append(f"{name} {str(value).rstrip('.')}")
    return ", ".join(told)
