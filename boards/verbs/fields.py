"""The fields of a card as they come in, and as the model keeps them."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.models import Actor
from accounts.moments import keepable
from accounts.skills import skills_of
from accounts.told import told
from boards.verbs.boards import actor_of
from boards.verbs.text import title_of

MAX_DESCRIPTION_CHARACTERS = 100_000
MAX_LABELS, MAX_LABEL_CHARACTERS = 50, 50
FIRST_PRIORITY, LAST_PRIORITY = 1, 5

Description = Annotated[str, told(maxLength=MAX_DESCRIPTION_CHARACTERS)]
Labels = Annotated[
    list[Annotated[str, told(minLength=1, maxLength=MAX_LABEL_CHARACTERS)]],
    told(maxItems=MAX_LABELS),
]
# What is called otherwise in the model.
_COLUMNS = {"not_before": "available_at", "parent": "parent_id"}


def fields_of(caller: Caller, given: dict[str, Any], pointer: str) -> dict[str, Any]:
    """Of the model, from those of `NewCard`. Raises Invalid."""
    return {
        _COLUMNS.get(name, name): _read(caller, name, value, f"{pointer}/{name}")
        for name, value in given.items()
    }


def _read(caller: Caller, name: str, value: Any, pointer: str) -> Any:
    reader = _READERS.get(name)
    return reader(caller, value, pointer) if reader else value


def _description(caller: Caller, text: str, pointer: str) -> str:
    if len(text) > MAX_DESCRIPTION_CHARACTERS:
        raise Invalid.at(pointer, "too_long", "Too long.")
    return text


def _priority(caller: Caller, priority: int, pointer: str) -> int:
    if not FIRST_PRIORITY <= priority <= LAST_PRIORITY:
        raise Invalid.at(pointer, "out_of_range", "Priority is 1 (first) to 5.")
    return priority


def _labels(caller: Caller, labels: list[str], pointer: str) -> list[str]:
    # As they were said: whoever reads the schema finds the same limits.
    if len(labels) > MAX_LABELS or any(
        not label.strip() or len(label) > MAX_LABEL_CHARACTERS for label in labels
    ):
        raise Invalid.at(
            pointer,
            "out_of_range",
            f"At most {MAX_LABELS} labels of 1 to {MAX_LABEL_CHARACTERS} characters.",
        )
    return list(dict.fromkeys(label.strip() for label in labels))


def _assignee(caller: Caller, handle: str | None, pointer: str) -> Actor | None:
    return None if handle is None else actor_of(caller, handle, pointer)


def _moment(caller: Caller, moment: datetime | None, pointer: str) -> datetime | None:
    return keepable(moment, pointer)


_READERS: dict[str, Callable[[Caller, Any, str], Any]] = {
    "title": lambda caller, text, pointer: title_of(text, pointer),
    "description": _description,
    "priority": _priority,
    "labels": _labels,
    "skills": lambda caller, names, pointer: skills_of(names, pointer),
    "assignee": _assignee,
    "due": _moment,
    "not_before": _moment,
}
