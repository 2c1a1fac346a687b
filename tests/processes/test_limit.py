"""R3: `concurrency_limit` is never exceeded, and it is reached.

janbjorge/pgqueuer#761: two workers both saw room and took different rows, since
SKIP LOCKED doesn't make a count exact. What was in force at one moment is computed
from the leases' own times.
"""

import pytest

from leases.models import Lease
from leases.reads import server_time
from tests.processes.history import check, most_at_once
from tests.processes.waiting import eventually

WORKERS = 16
CARDS = 160
# Long enough that many are at work at once where the limit lets them.
WORK_SECONDS = {1: 0.01, 5: 0.03, 20: 0.05}


@pytest.mark.parametrize(("limit", "count"), [(1, None), (5, None), (20, 3)])
def test_a_limit_is_kept_and_reached(fleet, world, queue, limit, count):
    """With 16 workers a limit of 20 is only reached by those that take several."""
    world.set(concurrency_limit=limit)
    cards = world.add_many(CARDS)
    workers = fleet(WORKERS)
    completed = workers.all("drain", queue=queue, work=WORK_SECONDS[limit], count=count)
    assert sum(completed) == CARDS
    assert most_at_once(Lease.objects.all()) == limit
    check(cards, workers.history(), max_attempts=5)


def test_nothing_that_people_do_meanwhile_breaks_the_limit(fleet, world, queue, owner):
    """rails/solid_queue#735 and others: a manual retry, a kill or a lowered limit
    skipped it. Force, requeue and a lower limit, under eight pollers."""
    world.set(concurrency_limit=4)
    for _ in range(2):
        world.add_many(500)
    dead = [world.fail_card(requeue=False) for _ in range(4)]
    workers = fleet(8)
    for number, process in enumerate(workers.processes):
        # One holds its cards for so long that they can be revoked.
        process.tell("drain", queue=queue, stays=True, work=0.02 if number else 1.0)
    for card in dead:
        assert owner.post(f"/v1/cards/{card}:requeue").status_code == 200
        eventually(lambda: has_revoked_one(world, owner))
    world.set(concurrency_limit=1)
    lowered = server_time()
    # However many a fast machine has done by now.
    world.add_many(100)
    eventually(lambda: Lease.objects.filter(acquired_at__gt=lowered).count() > 20)
    workers.close()
    assert most_at_once(ended_before_now()) == 4
    after = [one for one in ended_before_now() if one.acquired_at > lowered]
    assert most_at_once(after) == 1
    # Those that were at work before could finish, and the first new one waited for it.
    before = [one for one in ended_before_now() if one.acquired_at <= lowered]
    assert max(one.ended_at for one in before) <= min(one.acquired_at for one in after)


def has_revoked_one(world, owner) -> bool:
    active = owner.get(f"/v1/boards/{world.board}/leases").json()["items"]
    return any(
        owner.post(f"/v1/leases/{lease['id']}:revoke").status_code == 200
        for lease in active
    )


def ended_before_now() -> list[Lease]:
    return list(Lease.objects.exclude(slot=None).exclude(ended_at=None))
