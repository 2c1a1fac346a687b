"""Which column of a table is what, by its name; and whether it has names at all."""

import re

from transfer.files.cells import is_done, moment_of
from transfer.files.options import Role

# The first that is there counts, and only one column can be each of these.
_SINGLE: tuple[tuple[Role, tuple[str, ...]], ...] = (
    (
        "title",
        (
            *("title", "name", "summary", "task name", "card title", "card name"),
            *("subject", "task", "content", "issue", "todo", "item"),
        ),
    ),
    (
        "description",
        (
            *("description", "desc", "body", "details", "content", "notes", "note"),
            *("card description", "text", "comment"),
        ),
    ),
    (
        "list",
        (
            *("list", "column", "section/column", "section", "status", "state name"),
            *("state", "list name", "stage", "bucket", "bucket name"),
        ),
    ),
    (
        "due",
        (
            *("due", "due date", "deadline", "target date", "due at", "due on"),
            *("end date", "date"),
        ),
    ),
    ("priority", ("priority", "prio", "importance")),
    (
        "assignee",
        (
            *("assignee", "assigned to", "assignees", "responsible", "owner"),
            *("assignee email", "members", "member"),
        ),
    ),
    (
        "done",
        (
            *("done", "completed", "completed at", "complete", "is done", "finished"),
            *("closed at", "completed date"),
        ),
    ),
    ("archived", ("archived", "archived at", "is archived")),
)
_LABELS = frozenset(["labels", "label", "tags", "tag", "categories", "category"])


def name_of(header: str) -> str:
    return re.sub(r"[\s_]+", " ", header).strip().casefold()


def roles_of(names: list[str]) -> list[Role]:
    """One for each column. What isn't known becomes a property of the cards."""
    plain = [name_of(name) for name in names]
    roles: list[Role] = ["labels" if name in _LABELS else "property" for name in plain]
    for role, wanted in _SINGLE:
        for name in wanted:
            if name in plain and roles[place := plain.index(name)] == "property":
                roles[place] = role
                break
    return roles


def has_header(rows: list[list[str]]) -> bool:
    """The first row has a name that we know, or only texts where others have
    numbers, dates and gaps."""
    first = [cell.strip() for cell in rows[0]]
    if set(roles_of(first)) != {"property"}:
        return True
    if not all(first) or len(set(first)) < len(first) or any(map(_is_value, first)):
        return False
    below = rows[1:20]
    return any(_is_value(cell) or not cell.strip() for row in below for cell in row)


def _is_value(cell: str) -> bool:
    text = cell.strip()
    is_number = re.fullmatch(r"[-+]?[\d.,]+", text) is not None
    return is_number or moment_of(text, "dmy") is not None or is_done(text) is True


def unique(names: list[str]) -> list[str]:
    """Names of properties: each once, none empty."""
    found: list[str] = []
    for i, name in enumerate(names):
        base = name.strip()[:100] or f"Column {i + 1}"
        new, number = base, 1
        while new in found:
            number += 1
            new = f"{base} ({number})"
        found.append(new)
    return found
