"""What docs/scaling.md says of sessions and of queries is what the code does."""

import re

from django.conf import settings
from django.db import connection

from boards import reads
from boards.reads import EventFilter
from boards.verbs.cards import edit_card
from boards.verbs.comments import add_comment
from boards.verbs.moving import move_card
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.reap import reap
from leases.verbs.renew import renew
from novum.pooling import session_is_as_wanted
from tests.builders import receipt
from tests.running.test_deploy import SCALING


def test_the_roles_settings_are_those_of_a_session():
    told = dict(re.findall(r"ALTER ROLE novum SET (\w+) = '(\w+)';", SCALING))
    assert told == settings.DATABASE_SESSION


def test_a_session_that_is_not_as_wanted_is_told_where_a_pool_is(db, monkeypatch):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = on; SET LOCAL lock_timeout = 7")
    assert session_is_as_wanted(databases=["default"]) == []
    monkeypatch.setattr(settings, "DATABASE_POOLER", "transaction")
    assert session_is_as_wanted(databases=None) == []
    jit, timeout = session_is_as_wanted(databases=["default"])
    assert jit.msg == "Sessions of the database have jit = on, not off."
    assert "lock_timeout = 7, not 10000" in timeout.msg
    assert "SET lock_timeout = '10000';" in timeout.hint


def how_many_name(workspace, call) -> str:
    """Of the statements on tables that would be spread, and the workspace."""
    named = []

    def note(execute, sql, given, many, context):
        values = given.values() if isinstance(given, dict) else given or ()
        if re.search(r"\b(boards|leases)_", sql):
            named.append(workspace in values)
        return execute(sql, given, many, context)

    with connection.execute_wrapper(note):
        call()
    assert named
    return "all" if all(named) else "some" if any(named) else "none"


def test_the_list_of_calls_that_name_their_workspace(world):
    """As Citus needs it, to ask one node."""
    worker, owner = world.worker, world.owner
    card, other, *_ = world.add_many(8)
    held = [receipt(world.claim()) for _ in range(3)]
    calls = {
        "a claim": world.claim,
        "`renew`": lambda: renew(worker, **held[0]),
        "`complete`": lambda: complete(worker, **held[0]),
        "`fail`": lambda: fail(worker, **held[1]),
        "`release`": lambda: release(worker, **held[2]),
        "a new card": world.add,
        "a change of a card": lambda: edit_card(owner, card_id=card, title="New"),
        "a move": lambda: move_card(owner, card_id=other, column_id=world.done),
        "a comment": lambda: add_comment(owner, card_id=card, text="Hi"),
        "a card": lambda: reads.card(owner, card_id=card),
        "events": lambda: reads.events(owner, EventFilter(), after="", limit=9),
        "the reaper": reap,
    }
    found = [
        f"| {name} | {how_many_name(world.workspace.pk, call)} |"
        for name, call in calls.items()
    ]
    (table,) = re.findall(
        r"\| name the workspace \|\n\|[-|]+\|\n((?:\|.*\n)+)", SCALING
    )
    assert table.splitlines() == found, "\n".join(found)
