"""The two ways on which a result is stored: after a look at its lease, or at once, by a
process that gave the lease out and knows the column's terms (leases.handed)."""

from collections.abc import Callable
from typing import Any

from django.db import connection

from boards.verbs.cards import archive_card
from leases.statements import completing
from leases.statements.renewing import _LOOK
from leases.verbs.complete import complete
from tests.builders import World, receipt

_AT_ONCE = {completing._COMPLETE_KNOWN, completing._COMPLETE_KNOWN_MANY}


def learn_terms(world: World) -> None:
    """This process comes to know the terms of the queue as every process does: by the
    completion of a card there. Nothing of it stays in anyone's way."""
    world.add("Before", priority=1)
    held = world.claim()
    assert held.card.title == "Before"
    complete(world.worker, **receipt(held))
    archive_card(world.owner, card_id=held.card.id)


def noted(call: Callable[[], Any], sent: list[str]) -> Callable[[], Any]:
    """The call, which writes its statements down there."""

    def note(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        sent.append(sql)
        return execute(sql, params, many, context)

    def noting() -> Any:
        with connection.execute_wrapper(note):
            return call()

    return noting


def is_at_once(statement: str) -> bool:
    return statement in _AT_ONCE


def went(sent: list[str], *, known: bool) -> bool:
    """Whether completions went on the way of those who know the terms, or not before
    they had looked: who looks, knows them from then on."""
    ways = [is_at_once(one) for one in sent if is_at_once(one) or one == _LOOK]
    return any(ways) if known else ways[:1] != [True]
