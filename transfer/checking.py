"""What a card of a file must be to be one of ours."""

from typing import Any

from accounts.callers import Caller
from accounts.errors import Invalid
from boards.verbs.comments import MAX_COMMENT_CHARACTERS
from boards.verbs.fields import fields_of
from boards.verbs.parents import MAX_DEPTH
from transfer.numbers import fault_of
from transfer.shapes import BoardDocument, CardPart

_FIELDS = ("title", "description", "priority", "labels", "skills", "due")
MOST_COLUMNS = 500


def card_fields(caller: Caller, card: CardPart, pointer: str) -> dict[str, Any]:
    """Those that people fill in, as the model keeps them. Raises Invalid."""
    if fault := fault_of(card):
        raise Invalid.at(pointer, "unstorable", fault)
    for i, comment in enumerate(card.comments):
        if not comment.text.strip() or len(comment.text) > MAX_COMMENT_CHARACTERS:
            detail = f"A comment has 1 to {MAX_COMMENT_CHARACTERS} characters."
            raise Invalid.at(f"{pointer}/comments/{i}/text", "out_of_range", detail)
    return fields_of(caller, {name: getattr(card, name) for name in _FIELDS}, pointer)


def check_document(document: BoardDocument) -> None:
    """Whether what refers to something finds it. Raises Invalid."""
    columns = len(document.columns)
    if not 1 <= columns <= MOST_COLUMNS and document.cards:
        raise Invalid.at("/columns", "out_of_range", f"1 to {MOST_COLUMNS} columns.")
    for i, column in enumerate(document.columns):
        if fault := fault_of(column):
            raise Invalid.at(f"/columns/{i}", "unstorable", fault)
        contract = column.contract
        for name in ("on_success", "on_failure"):
            target = None if contract is None else getattr(contract, name)
            _within(target, columns, f"/columns/{i}")
    for i, card in enumerate(document.cards):
        _within(card.column, columns, f"/cards/{i}/column")
        _within(card.parent, len(document.cards), f"/cards/{i}/parent")
        for lease in card.leases:
            _within(lease.column, columns, f"/cards/{i}/leases")
    _check_lines([card.parent for card in document.cards])


def _within(place: int | None, count: int, pointer: str) -> None:
    if place is not None and place >= count:
        raise Invalid.at(pointer, "unknown_place", f"There is no number {place}.")


def _check_lines(parents: list[int | None]) -> None:
    for start in (i for i, parent in enumerate(parents) if parent is not None):
        above, depth = parents[start], 0
        while above is not None:
            depth += 1
            if above == start or depth > MAX_DEPTH:
                detail = f"A card isn't part of itself, nor more than {MAX_DEPTH} deep."
                raise Invalid.at(f"/cards/{start}/parent", "bad_parent", detail)
            above = parents[above]
