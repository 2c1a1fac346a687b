"""Where two verbs meet."""

from types import SimpleNamespace
from typing import Any

from leases.models import Lease
from leases.verbs.requeue import requeue
from tests.builders import World, a_world, an_agent, lapse, lease_row
from tests.ways import learn_terms


def open_card(*, known: bool = False, **terms: Any) -> SimpleNamespace:
    """One card that can be claimed, and two workers. `known`: this process knows the
    terms of the column already."""
    world = a_world(**terms)
    other = an_agent(world.workspace)
    if known:
        learn_terms(world)
    return SimpleNamespace(world=world, card=world.add(), other=other, known=known)


def held_card(**terms: Any) -> SimpleNamespace:
    """One card and its live lease."""
    place = open_card(**terms)
    place.held = place.world.claim()
    return place


def lapsed_card(**terms: Any) -> SimpleNamespace:
    """One card and the lease on it that ran out; nobody has noticed yet."""
    place = held_card(**terms)
    lapse(place.held)
    return place


def dead_card(**terms: Any) -> SimpleNamespace:
    """One card in the failure column."""
    place = open_card(max_attempts=1, **terms)
    place.world.fail_card()
    return place


def requeue_it(place: SimpleNamespace) -> Any:
    return requeue(place.world.owner, card_id=place.card)


def lease_state(place: SimpleNamespace) -> str:
    return lease_row(place.held.lease.id).state


def live(world: World) -> int:
    return Lease.objects.filter(column_id=world.queue, state="active").count()
