"""Works on an embedded database until it's told to stop: claims, completions, new cards.

Says where the feed was when it began, and then what it works on.
"""

import json
import sys
import threading

import django

django.setup()

from django.db import connection  # noqa: E402

from boards import news  # noqa: E402
from leases.verbs.complete import complete  # noqa: E402
from tests.builders import a_world, receipt  # noqa: E402
from webhooks.keys import seal  # noqa: E402

world = a_world()
world.add_many(200)
facts = {
    "workspace": str(world.workspace.pk),
    "owner": str(world.owner.actor_id),
    "board": str(world.board),
    "column": str(world.done),
    "cursor": news.end().cursor,
    "sealed": seal("a secret"),
}
stopped = threading.Event()


def work() -> None:
    for _ in iter(stopped.is_set, True):
        held = world.claim()
        world.add()
        complete(world.worker, **receipt(held), output={"ok": True})
    # One stays held.
    world.claim()
    connection.close()


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
sys.stdout.write(json.dumps(facts) + "\n")
sys.stdout.flush()
sys.stdin.readline()
stopped.set()
for thread in threads:
    thread.join()
