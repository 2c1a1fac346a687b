"""One story by every door: the same answers, rows and events, word for word.

What differs by nature is replaced before: ids by their order, positions and
transactions by their rank, times, receipts, and the names of the world.
"""

import json
import re
from typing import Any

import pytest

from leases.models import Lease
from tests.builders import World, a_world, event_types, snapshot
from tests.doors.http import token_of
from tests.parity.doors import BY_NAME, DOORS, Door
from tests.parity.scenario import VERBS, Teller

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]+(?:\+00:00|Z)?")
RECEIPT = re.compile(r"nvml_\w+")


def plain(value: Any, names: dict[str, str]) -> Any:
    """The same story gives the same text."""
    text = json.dumps(value, default=_shown, sort_keys=True, indent=1)
    ids: dict[str, str] = {}
    text = UUID.sub(lambda found: ids.setdefault(found[0], f"id {len(ids)}"), text)
    text = RECEIPT.sub("receipt", TIME.sub("time", text))
    for name, word in names.items():
        text = text.replace(name, word)
    return json.loads(text)


def _shown(value: Any) -> str:
    return "bytes" if isinstance(value, bytes | memoryview) else str(value)


def told_by(door: Door) -> tuple[World, Teller]:
    world = a_world()
    teller = Teller(door, world, token_of(world.worker), token_of(world.owner))
    teller.tell()
    return world, teller


def names_of(world: World) -> dict[str, str]:
    return {
        world.worker.handle: "worker",
        world.worker.name: "Worker",
        world.owner.handle: "owner",
        world.owner.name: "Owner",
    }


def number(rows: list[dict[str, Any]], name: str) -> None:
    """Their rank in the place of the values."""
    ranks = sorted({row[name] for row in rows})
    for row in rows:
        row[name] = ranks.index(row[name])


def all_of(door: Door) -> dict[str, Any]:
    world, teller = told_by(door)
    rows = snapshot(world)
    number(rows["cards"], "position")
    number(rows["events"], "transaction")
    return plain({"answers": teller.answers, "rows": rows}, names_of(world))


@pytest.mark.parametrize("door", [name for name in DOORS if name != "rest"])
def test_every_lease_verb_gives_the_same_answers_rows_and_events(db, door):
    check_same(all_of(DOORS[door]()), all_of(DOORS["rest"]()))


def check_same(other: dict[str, Any], rest: dict[str, Any]) -> None:
    for (operation, said), (again, wanted) in zip(
        other["answers"], rest["answers"], strict=True
    ):
        assert (operation, said) == (again, wanted)
    for table, rows in rest["rows"].items():
        assert other["rows"][table] == rows, table


@pytest.mark.parametrize("door", DOORS)
def test_the_story_holds_every_verb_every_end_and_every_refusal(db, door):
    world, teller = told_by(DOORS[door]())
    assert {operation for operation, _ in teller.answers} == VERBS
    states = set(
        Lease.objects.filter(board_id=world.board).values_list("state", flat=True)
    )
    assert states >= {"completed", "failed", "released", "revoked", "expired", "active"}
    codes = {told.get("error") for _, told in teller.answers}
    assert codes >= {
        "lease_lost",
        "output_rejected",
        "forbidden",
        "idempotency_key_reused",
    }
    types = {
        kind
        for card in {row["id"] for row in snapshot(world)["cards"]}
        for kind in event_types(card)
    }
    ends = ("claimed", "completed", "failed", "expired", "released", "revoked")
    assert types >= {f"card.lease.{end}" for end in (*ends, "deadlettered")}


def test_the_story_forgets_no_verb_of_leases():
    verbs = {one.name for one in BY_NAME.values() if one.noun == "leases"}
    silent = {
        name for name in verbs if name.startswith(("list_my", "set_lease_activity"))
    }
    assert verbs - silent <= VERBS
