"""Looks at a restored database: is it sound, does its feed go on, does the key fit."""

import json
import sys
from uuid import UUID

import django

django.setup()

from accounts.credentials import caller_of_actor  # noqa: E402
from accounts.models import Actor  # noqa: E402
from boards import reads  # noqa: E402
from boards.models import Card, Event  # noqa: E402
from boards.reads import EventFilter  # noqa: E402
from boards.verbs.cards import NewCard, create_card  # noqa: E402
from tests.invariants import broken  # noqa: E402
from webhooks.keys import opened  # noqa: E402

facts = json.loads(sys.argv[1])
workspace = UUID(facts["workspace"])
caller = caller_of_actor(Actor.objects.get(pk=facts["owner"]))
stored = Event.objects.filter(workspace_id=workspace).count()
create_card(
    caller,
    board_id=UUID(facts["board"]),
    column_id=UUID(facts["column"]),
    card=NewCard(title="After"),
)


def seen(after: str) -> list[str]:
    """What the feed gives from there on, to its end."""
    found: list[str] = []
    while True:
        page = reads.events(caller, EventFilter(), after=after, limit=200)
        found += [one.type for one in page.items]
        if not page.items:
            return found
        after = page.cursor


sys.stdout.write(
    json.dumps(
        {
            "broken": [rule for rule, _ in broken(workspace)],
            "claimed": Card.objects.filter(state="claimed").count(),
            "stored": stored,
            "all": len(seen("")),
            "last": seen("")[-1],
            "since": len(seen(facts["cursor"])),
            "secret": opened(facts["sealed"]),
        }
    )
)
