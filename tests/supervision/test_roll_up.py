import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from time import monotonic, sleep

import pytest
from django.db import connection, transaction

from boards.models import Event, Snapshot
from boards.verbs.comments import add_comment
from boards.verbs.moving import move_card
from leases.models import Lease
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.renew import renew
from leases.verbs.revoke import revoke
from leases.verbs.tidy import tidy
from supervision.histograms import bucket
from supervision.models import HolderFigures, QueueFigures, QueueTotals, RollUp
from supervision.verbs import roll_up as rolling
from supervision.verbs.figures import COUNTS
from supervision.verbs.forget import forget_minutes
from supervision.verbs.roll_up import roll_up, roll_up_all
from tests.builders import World, a_world, an_agent, lapse, receipt

PATIENCE = 60
OPENS = {
    *("card.created", "card.moved", "card.restored", "card.requeued"),
    *(name for name in COUNTS if name not in ("card.lease.claimed",)),
} - {"card.lease.deadlettered"}


@pytest.fixture
def world(transactional_db) -> World:
    """Committed: only what has ended is rolled up."""
    return a_world(max_attempts=2, backoff_seconds=[0])


def settled() -> None:
    """Everything is rolled up, once older transactions have ended wherever they run."""
    end = monotonic() + PATIENCE
    while Event.objects.filter(transaction__gte=Snapshot()).exists():
        assert monotonic() < end
        sleep(0.02)
    roll_up_all()


def trimmed(counts: Counter[int]) -> list[int]:
    return [counts[i] for i in range(max(counts) + 1)] if counts else []


class Recount:
    """The same figures, by a plain walk through all events."""

    def __init__(self):
        self.leases = Lease.objects.in_bulk()
        self.queues, self.holders, self.opened = {}, {}, {}
        for event in Event.objects.order_by("card_id", "sequence"):
            if event.type in COUNTS:
                self.count(event, self.leases[event.lease_id])
            self.notice(event)

    def notice(self, event) -> None:
        data, at = event.data, event.created_at
        if event.type not in OPENS:
            return
        if event.type == "card.moved" and len({*data.values()}) == 1:
            return
        if event.type == "card.lease.failed":
            at = max(at, self.leases[event.lease_id].next_due or at)
        self.opened[event.card_id] = at

    def count(self, event, lease) -> None:
        took, silence = self.measured(event, lease)
        minute = event.created_at.replace(second=0, microsecond=0)
        for span, start in ((60, minute), (3600, minute.replace(minute=0))):
            key = (event.column_id, span, start)
            queue = self.queues.setdefault(key, {})
            holder = self.holders.setdefault((*key, lease.holder_id), {})
            put(queue, "counts", COUNTS[event.type])
            put(holder, "counts", COUNTS[event.type])
            for kind, seconds in took.items():
                put(queue, kind, bucket(seconds))
            if "run" in took:
                put(holder, "run", bucket(took["run"]))
            for kind, seconds in silence.items() if span == 3600 else ():
                put(queue, kind, bucket(seconds))

    def measured(self, event, lease):
        name = COUNTS[event.type]
        if name == "claims":
            since = self.opened[event.card_id]
            return {"wait": (lease.acquired_at - since).total_seconds()}, {}
        run = (lease.ended_at - lease.acquired_at).total_seconds()
        took = {"run": run} if name in ("completed", "failed") else {}
        if name in ("expired", "dead_lettered"):
            return took, {}
        if not lease.renewals:
            return took, {"quiet": run}
        last = (lease.ended_at - lease.renewed_at).total_seconds()
        until = (lease.renewed_at - lease.acquired_at).total_seconds()
        return took, {"gap": max(last, until / lease.renewals)}


def put(sums, kind, what) -> None:
    sums.setdefault(kind, Counter())[what] += 1


def kept(model, *histograms: str):
    found = {}
    for row in model.objects.all():
        counts = Counter({name: getattr(row, name) for name in COUNTS.values()})
        sums = {"counts": +counts} if +counts else {}
        for name in histograms:
            if getattr(row, name):
                sums[name] = getattr(row, name)
        if sums:
            found[row.pk] = sums
    return found


def as_kept(recounted):
    return {
        key: {
            name: value if name == "counts" else trimmed(value)
            for name, value in sums.items()
        }
        for key, sums in recounted.items()
    }


def matches() -> None:
    found = Recount()
    assert kept(QueueFigures, "run", "wait", "quiet", "gap") == as_kept(found.queues)
    assert kept(HolderFigures, "run") == as_kept(found.holders)
    assert kept(QueueTotals, "run", "wait") == as_kept(totals(found.queues))


def totals(queues):
    """The minutes of each queue together."""
    found = {}
    for (column, span, _), sums in queues.items():
        for name in ("counts", "run", "wait") if span == 60 else ():
            total = found.setdefault(column, {})
            if name in sums:
                total[name] = total.get(name, Counter()) + sums[name]
    return found


class Life:
    """Whatever may happen to the cards of a queue, at random."""

    def __init__(self, world: World, seed: int):
        self.world, self.chance = world, random.Random(seed)
        self.workers = [world.worker, an_agent(world.workspace)]
        self.held = []

    def goes_on(self, steps: int) -> None:
        for _ in range(steps):
            step = self.chance.choice(
                [self.adds, self.claims, self.claims, self.ends, self.ends, self.odd]
            )
            step()

    def adds(self) -> None:
        self.world.add_many(self.chance.randint(1, 3))

    def claims(self) -> None:
        by = self.chance.choice(self.workers)
        found = self.world.ask(by)
        if found.card:
            self.held.append((by, found))

    def ends(self) -> None:
        if not self.held:
            return
        by, held = self.held.pop(self.chance.randrange(len(self.held)))
        if self.chance.random() < 0.3:
            renew(by, **receipt(held))
        how = self.chance.randrange(6)
        if how == 0:
            complete(by, **receipt(held))
        elif how == 1:
            fail(by, **receipt(held), reason="no", requeue=self.chance.random() < 0.5)
        elif how == 2:
            fail(by, **receipt(held), reason="later", retry_after_seconds=100)
        elif how == 3:
            release(by, **receipt(held))
        elif how == 4:
            revoke(self.world.owner, lease_id=held.lease.id)
        else:
            lapse(held)
            tidy(self.world.queue)

    def odd(self) -> None:
        cards = self.world.shown()
        if not cards:
            return
        card = self.chance.choice(cards)
        if self.chance.random() < 0.5:
            add_comment(self.world.owner, card_id=card, text="Well.")
        elif card not in [held.card.id for _, held in self.held]:
            where = self.chance.choice([self.world.queue, self.world.done])
            move_card(self.world.owner, card_id=card, column_id=where)


def put_back(since, minutes: int) -> None:
    """What has happened after the event `since` happened so many minutes ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE boards_event SET created_at = created_at"
            " - make_interval(mins => %s) WHERE id > %s",
            [minutes, since],
        )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_figures_are_what_a_recount_of_all_events_gives(world, seed):
    life = Life(world, seed)
    for part in range(4):
        last = Event.objects.order_by("id").values_list("pk", flat=True).last()
        life.goes_on(25)
        put_back(last, (3 - part) * 37)
        if part % 2:
            settled()
    settled()
    matches()
    before = kept(QueueFigures, "run", "wait")
    roll_up_all()
    assert kept(QueueFigures, "run", "wait") == before


def test_many_at_once_count_every_event_once(world, monkeypatch):
    monkeypatch.setattr(rolling, "MAX_BATCHES", 3)
    monkeypatch.setattr(
        rolling, "_READ", rolling._READ.replace("LIMIT 2000", "LIMIT 7")
    )
    monkeypatch.setattr(rolling, "BATCH", 7)
    Life(world, 4).goes_on(120)
    end = monotonic() + PATIENCE
    while Event.objects.filter(transaction__gte=Snapshot()).exists():
        assert monotonic() < end
        sleep(0.02)

    def pass_after_pass(_) -> None:
        try:
            while roll_up_all():
                pass
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(pass_after_pass, range(4)))
    settled()
    matches()


def test_what_commits_late_is_not_left_out(world):
    world.add_many(4)
    claimed, may_commit = threading.Event(), threading.Event()

    def slow() -> None:
        try:
            with transaction.atomic():
                world.claim()
                claimed.set()
                assert may_commit.wait(PATIENCE)
        finally:
            connection.close()

    thread = threading.Thread(target=slow)
    thread.start()
    assert claimed.wait(PATIENCE)
    # Later ones that are there already.
    world.claim()
    roll_up_all()
    may_commit.set()
    thread.join()
    settled()
    rows = QueueFigures.objects.filter(column_id=world.queue, span=3600)
    assert sum(rows.values_list("claims", flat=True)) == 2


def test_once_a_minute_it_is_noted_how_much_lies_there(world):
    world.add_many(5)
    world.claim()
    settled()
    (row,) = QueueFigures.objects.filter(column_id=world.queue, span=60, depth__gt=0)
    assert (row.depth, row.working) == (4, 1)
    world.add_many(5)
    RollUp.objects.update(sampled_at=row.start + timedelta(seconds=59))
    at = RollUp.objects.values_list("sampled_at", flat=True).get()
    roll_up(world.workspace.pk)
    row.refresh_from_db()
    later = RollUp.objects.values_list("sampled_at", flat=True).get()
    # Not again in the same minute, unless a new one has begun meanwhile.
    assert row.depth == 4 or later > at


def test_old_minutes_are_forgotten_and_their_hours_stay(world):
    world.add()
    world.claim()
    settled()
    assert forget_minutes(7) == 0
    for model in (QueueFigures, HolderFigures):
        for row in list(model.objects.all()):
            old = row.start - timedelta(days=8)
            model.objects.filter(pk=row.pk).update(start=old)
    assert forget_minutes(0) == 0
    assert forget_minutes(7) == 2
    for model in (QueueFigures, HolderFigures):
        assert set(model.objects.values_list("span", flat=True)) == {3600}
