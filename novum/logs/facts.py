"""What's known of the call or job at hand; every line that is logged meanwhile has it.

A call costs a few assignments: what a line shows of it is worked out when there is one.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from accounts.ids import new_id

_facts: ContextVar[dict[str, Any] | None] = ContextVar("facts", default=None)
# Of what an operation took or gave.
_IDS = ("card_id", "lease_id")


@contextmanager
def about(**known: Any) -> Iterator[dict[str, Any]]:
    """Until the end: these facts, and those that are told within. Inside of another,
    the other's."""
    outer = _facts.get()
    if outer is not None:
        yield outer
        return
    found = dict(known)
    token = _facts.set(found)
    try:
        yield found
    finally:
        _facts.reset(token)


def begin(**known: Any) -> None:
    """These facts from now on, in place of all others: a worker's process runs one job
    after the other."""
    _facts.set(known or None)


def tell(name: str, value: Any) -> None:
    """One more fact of the call at hand, if there is one."""
    if (found := _facts.get()) is not None:
        found[name] = value


def request_id() -> str:
    """That of the call at hand, or a new one."""
    found = _facts.get()
    return (found and found.get("request_id")) or str(new_id())


def shown() -> dict[str, Any]:
    """As a line has them: names and ids, nothing of what a card or a form holds."""
    found = _facts.get()
    if not found:
        return {}
    known = {
        name: found[name]
        for name in ("request_id", "job", "run", "operation")
        if found.get(name)
    }
    caller = found.get("caller")
    if caller is not None:
        known["actor"] = str(caller.actor_id)
    for values in (found.get("given"), found.get("result")):
        known |= _ids(values)
    return known


def _ids(values: Any) -> Mapping[str, str]:
    """`card_id` and `lease_id` of a call's input, or of a claim's answer."""
    found = {}
    for name in _IDS:
        noun = name.removesuffix("_id")
        value = getattr(values, name, None)
        value = value or getattr(getattr(values, noun, None), "id", None)
        if value is not None:
            found[noun] = str(value)
    return found
