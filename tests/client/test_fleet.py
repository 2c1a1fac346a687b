"""Twenty workers, two hundred cards, and workers that die in the middle of them."""

import time
from collections import Counter

from boards.models import Card, Event
from leases.models import Lease

WORKERS, CARDS = 20, 200


def test_twenty_workers_that_crash_do_everything_once(
    start, tokens, world, server, network
):
    """Four behind a network that is cut again and again, the others killing themselves
    in one of twenty cards, each replaced by a new one."""
    world.set(lease_ttl_seconds=6, max_attempts=20)
    world.add_many(CARDS)
    secrets = tokens(WORKERS)
    programs = [
        start(secret, crash=0.025, url=network.url)
        if number < 4
        else start(secret, crash=0.025)
        for number, secret in enumerate(secrets)
    ]
    deadline, cut_at = time.monotonic() + 200, time.monotonic() + 2
    while Card.objects.exclude(state="done").exists():
        assert time.monotonic() < deadline, states()
        time.sleep(0.1)
        if time.monotonic() > cut_at:
            network.cut()
            time.sleep(0.2)
            network.mend()
            cut_at = time.monotonic() + 2
        alive = [one for one in programs if one.is_alive()]
        for secret in secrets[: WORKERS - len(alive)]:
            programs.append(start(secret, crash=0.025))
    for program in programs:
        if program.is_alive():
            program.terminate()
    # One that had only just started had not begun to listen.
    assert {program.ends() for program in programs} <= {0, -9, -15}
    check(programs)


def states():
    return Counter(Card.objects.values_list("state", flat=True))


def check(programs):
    completed = Lease.objects.filter(state="completed")
    assert completed.count() == CARDS
    assert len(set(completed.values_list("card_id", flat=True))) == CARDS
    assert Event.objects.filter(type="card.lease.completed").count() == CARDS
    for card in Card.objects.all():
        (lease,) = card_leases(card, "completed")
        assert card.output == {"by": card.output["by"], "attempt": lease.attempt}
    killed = sum(program.process.returncode == -9 for program in programs)
    ended = Counter(Lease.objects.values_list("state", flat=True))
    # Whoever died held one card, and nothing else went wrong.
    assert killed > 0
    assert ended["expired"] <= killed
    assert set(ended) <= {"completed", "expired", "released"}
    said = [line for one in programs for line in one.saw("ended")]
    assert sum(line["completed"] for line in said) <= CARDS


def card_leases(card, state):
    return list(Lease.objects.filter(card=card, state=state))
