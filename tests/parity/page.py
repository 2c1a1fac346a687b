"""The pages as a door: each operation by the form that a person fills in for it."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse

from boards.models import Card
from leases.models import Contract
from novum.web.durations import words
from tests.builders import World
from tests.web.account.conftest import client_of

Form = tuple[str, dict[str, Any]]


class Page:
    """`ask` as the other doors, but a page answers in words for people: True where it
    was done, False where it was refused."""

    def __init__(self, world: World) -> None:
        self.client = client_of(world.owner)

    def ask(self, token: str, operation: str, key: str, /, **values: Any) -> bool:
        path, fields = FORMS[operation](**values)
        answer = self.client.post(path, fields, headers=SCRIPT)
        return is_done(answer)


SCRIPT = {"HX-Request": "true"}


def is_done(answer: HttpResponse) -> bool:
    assert answer.status_code < 500, answer.content
    return answer.status_code < 400


def _of_card(name: str, card_id: UUID, **fields: Any) -> Form:
    board_id = Card.objects.get(pk=card_id).board_id
    return reverse(name, args=[board_id, card_id]), fields


def _of_column(name: str, board_id: UUID, column_id: UUID, **fields: Any) -> Form:
    return reverse(name, args=[board_id, column_id]), fields


def _mine(name: str) -> Callable[..., Form]:
    return lambda id, **fields: (reverse(f"my-{name}", args=[id]), fields)


def _finish(id: UUID, result: Any) -> Form:
    return reverse("my-finish", args=[id]), {"json": json.dumps(result)}


def _hand_over(id: UUID, assignee: str | None) -> Form:
    return reverse("my-hand-over", args=[id]), {"assignee": assignee or ""}


def _move(card_id: UUID, force: bool = False, **where: Any) -> Form:
    named = {name.removesuffix("_id"): each for name, each in where.items()}
    return _of_card("move-card", card_id, **named, **_force(force))


def _archive(card_id: UUID, force: bool = False) -> Form:
    return _of_card("archive-card", card_id, **_force(force))


def _edit(card_id: UUID, **field: str) -> Form:
    ((name, text),) = field.items()
    card = Card.objects.get(pk=card_id)
    path = reverse("card-edit", args=[card.board_id, card_id, name])
    return path, {"value": text, "version": card.version}


def _revoke(lease_id: UUID, reason: str = "") -> Form:
    card = Card.objects.get(leases__id=lease_id)
    return _of_card("card-take-away", card.pk, lease=lease_id, reason=reason)


def _contract(board_id: UUID, column_id: UUID, **terms: Any) -> Form:
    """The editor; the switch at the column's head where only that is another one."""
    kept = Contract.objects.filter(pk=column_id).first()
    paused, reason = terms.pop("paused", False), terms.pop("pause_reason", "")
    if kept and kept.paused != paused:
        name, fields = ("pause", {"reason": reason}) if paused else ("resume", {})
        return _of_column(f"column-{name}", board_id, column_id, **fields)
    typed = {
        "version": kept.version if kept else 0,
        "enabled": "1" if terms["enabled"] else "",
        "queue": terms["queue"],
        "lease_ttl_seconds": words(terms["lease_ttl_seconds"]),
        "max_attempts": terms["max_attempts"],
        "backoff_seconds": ", ".join(map(words, terms["backoff_seconds"])),
        "on_success_column_id": terms["on_success_column_id"],
        "on_failure_column_id": terms["on_failure_column_id"],
        "concurrency_limit": terms["concurrency_limit"],
        "output_schema": json.dumps(terms["output_schema"]),
    }
    return _of_column("contract", board_id, column_id, **typed)


def _force(force: bool) -> dict[str, str]:
    return {"force": "1"} if force else {}


FORMS: dict[str, Callable[..., Form]] = {
    "set_column_contract": _contract,
    "create_card": lambda **values: _of_column("add-cards", **values),
    "edit_card": _edit,
    "add_comment": lambda **values: _of_card("comment-add", **values),
    "move_card": _move,
    "archive_card": _archive,
    "restore_card": lambda **values: _of_card("restore-card", **values),
    "requeue_card": lambda **values: _of_card("card-requeue", **values),
    "revoke_lease": _revoke,
    "cancel_card": lambda **values: _of_card("card-call-off", **values),
    "tasks.start": _mine("start"),
    "tasks.complete": _finish,
    "tasks.give_back": _mine("give-back"),
    "tasks.decline": _mine("decline"),
    "tasks.prioritize": _mine("priority"),
    "tasks.reorder": _mine("move"),
    "tasks.assign": _hand_over,
}
