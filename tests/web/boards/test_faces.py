"""A card's HTML is kept while nothing that it shows has changed, and no longer."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from accounts.models import Actor
from boards.models import Card
from boards.verbs.cards import edit_card
from boards.verbs.comments import add_comment
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.verbs.activity import set_card_activity
from leases.verbs.cancel import request_cancel
from leases.verbs.give_back import fail, release
from leases.verbs.renew import renew
from leases.wall import card_views
from novum.web import faces
from tests.builders import a_world, receipt


@pytest.fixture
def world(db):
    return a_world()


def shown(card_id):
    (view,) = card_views("NOV", [card_id])
    return faces.html(view)


def edit(**fields):
    return lambda world, card: edit_card(world.owner, card_id=card, **fields)


def of_holder(verb, **options):
    def change(world, card):
        verb(world.worker, **receipt(world.claim()), **options)

    return change


def has_become(**fields):
    """Without any verb: by a silent judgement, or because time has passed."""
    return lambda world, card: Card.objects.filter(pk=card).update(**fields)


def asked_to_stop(world, card):
    """Its chip alone would look the same."""
    world.claim()
    before = shown(card)
    request_cancel(world.owner, card_id=card)
    assert "Asked to stop" in shown(card)
    assert "Asked to stop" not in before


CHANGES = {
    "title": edit(title="Another"),
    "labels": edit(labels=["new"]),
    "many labels": edit(labels=[f"label {n}" for n in range(9)]),
    "skills": edit(skills=["german"]),
    "many skills": edit(skills=[f"skill {n}" for n in range(9)]),
    "priority": edit(priority=1),
    "due": edit(due=now() + timedelta(days=3)),
    "overdue": edit(due=now() - timedelta(days=3)),
    "not before": edit(not_before=now() + timedelta(days=1)),
    "assignee": lambda world, card: edit_card(
        world.owner, card_id=card, assignee=world.owner.handle
    ),
    "place": lambda world, card: move_card(
        world.owner, card_id=card, column_id=world.done, place=Place(end="top")
    ),
    "comments": lambda world, card: add_comment(world.owner, card_id=card, text="Hm"),
    "claimed": lambda world, card: world.claim(),
    "renewed": of_holder(renew),
    "said under a lease": of_holder(renew, doing="Page 3 of 7"),
    "said without one": lambda world, card: set_card_activity(
        world.worker, card_id=card, doing="Looking"
    ),
    "called off": lambda world, card: request_cancel(world.owner, card_id=card),
    "asked to stop": asked_to_stop,
    "given back": lambda world, card: release(
        world.worker, **receipt(world.claim()), note="Later"
    ),
    "failed once": of_holder(fail, reason="No such file", requeue=True),
    "failed": of_holder(fail, reason="No such file", requeue=False),
    "misfit": has_become(
        fits=False, misfit=[{"pointer": "/payload", "detail": "It is missing."}]
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_on_a_card_is_seen_at_once(world, what):
    card = world.add("One")
    before = shown(card)
    CHANGES[what](world, card)
    after = shown(card)
    faces._html.cache_clear()
    assert after == shown(card), "what was kept is what would be made now"
    if what != "given back":
        assert after != before


def test_a_new_name_of_its_holder_or_assignee_is_seen(world):
    card = world.add("One", assignee=world.worker.handle)
    world.claim()
    shown(card)
    Actor.objects.filter(pk=world.worker.actor_id).update(name="Renamed")
    assert shown(card).count("Renamed") == 2


def test_what_has_not_changed_is_not_made_again(world):
    cards = world.add_many(20)
    for view in card_views("NOV", cards):
        faces.html(view)
    made = faces._html.cache_info().misses
    edit_card(world.owner, card_id=cards[3], title="Changed")
    for _ in range(3):
        for view in card_views("NOV", cards):
            faces.html(view)
    assert faces._html.cache_info().misses == made + 1


def test_one_line_of_progress_and_whose_it_is_without_a_lease(world):
    card = world.add()
    set_card_activity(world.worker, card_id=card, doing="<b>Looking")
    assert "&lt;b&gt;Looking" in shown(card)
    assert f"@{world.worker.handle}</bdi>: " in shown(card)
    renew(world.worker, **receipt(world.claim()), doing="Page 3 of 7")
    assert "Page 3 of 7" in shown(card)
    assert f"@{world.worker.handle}</bdi>: " not in shown(card)


def test_what_was_called_off_has_not_failed(world):
    card = world.add()
    request_cancel(world.owner, card_id=card)
    assert "Called off" in shown(card)
    assert "Retry" not in shown(card)
