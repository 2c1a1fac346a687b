"""Cards that ask for skills go to who has them; a claim may name labels and skills."""

from dataclasses import replace

import pytest
from django.db import transaction

from accounts.errors import Invalid
from boards.models import Card
from leases.verbs.complete import complete
from tests.builders import card_row, receipt
from tests.connections import held_open
from tests.invariants import assert_sound
from tests.leases.big_queue import add, fill
from tests.leases.plans import explained


def able(world, *skills):
    return replace(world.worker, skills=frozenset(skills))


def order(world, by, **options):
    """The cards as single claims get them."""
    got = []
    while (found := world.ask(by, **options)).card:
        got.append(found.card.id)
    return got


def test_only_who_has_all_the_skills_is_offered_a_card(world):
    both = world.add(skills=["seo", "german"])
    seo = world.add(skills=["seo"])
    plain = world.add()
    assert order(world, world.worker) == [plain]
    assert order(world, able(world, "seo", "other")) == [seo]
    assert order(world, able(world, "seo", "german")) == [both]


def test_who_has_skills_gets_everything_in_the_order_of_the_column(world):
    cards = [
        world.add(priority=3, skills=["seo"]),
        world.add(priority=2),
        world.add(priority=1, skills=["german"]),
        world.add(priority=2, skills=["seo"]),
        world.add(priority=1, assignee=world.worker.handle),
        world.add(priority=3, assignee=world.worker.handle, skills=["seo"]),
        world.add(priority=3),
    ]
    wanted = [cards[n] for n in (4, 1, 3, 0, 5, 6)]
    assert order(world, able(world, "seo")) == wanted
    assert order(world, able(world, "german")) == [cards[2]]
    assert_sound(world.workspace.pk)


def test_many_at_once_come_in_the_same_order(world):
    cards = [world.add(skills=["seo"] if n % 2 else []) for n in range(6)]
    world.add(assignee=world.worker.handle)
    got = world.ask(able(world, "seo"), count=5).claims
    assert [one.card.id for one in got] == cards[:5]


def test_what_is_kept_for_me_but_asks_for_what_i_lack_is_in_nobodys_way(world):
    world.add(priority=1, assignee=world.worker.handle, skills=["seo"])
    mine = world.add(priority=2, assignee=world.worker.handle)
    plain = world.add()
    assert order(world, world.worker) == [mine, plain]


def test_what_is_kept_for_me_and_asks_for_what_i_have_comes_at_its_place(world):
    plain = world.add()
    mine = world.add(priority=1, assignee=world.worker.handle, skills=["seo"])
    assert order(world, able(world, "seo")) == [mine, plain]


def test_a_claim_names_labels_all_of_which_a_card_has(world):
    world.add(labels=["blog"])
    both = [world.add(labels=["blog", "urgent", n]) for n in "ab"]
    world.add()
    assert order(world, world.worker, labels=["urgent", "blog"]) == both
    assert world.ask(labels=["urgent"]).reason == "drained"
    assert len(order(world, world.worker)) == 2


def test_a_claim_names_skills_that_a_card_asks_for(world):
    world.add()
    seo = world.add(skills=["seo"])
    world.add(skills=["german", "seo"])
    assert order(world, able(world, "seo"), skills=["SEO"]) == [seo]
    assert world.ask(skills=["seo"]).card is None
    with pytest.raises(Invalid):
        world.ask(skills=["a,b"])


def test_labels_and_limits_lapses_and_last_attempts_go_together(world):
    world.set(concurrency_limit=1, max_attempts=1)
    card, dead = world.add(labels=["a"]), world.add(labels=["a"], priority=1)
    Card.objects.filter(pk=dead).update(attempts=1)
    held = world.claim(labels=["a"])
    assert held.card.id == card
    assert world.ask(labels=["a"]).reason == "at_capacity"
    complete(world.worker, **receipt(held))
    assert world.ask(labels=["a"]).reason == "drained"
    assert card_row(dead).state == "failed"


@pytest.mark.django_db(transaction=True)
def test_a_choice_locks_the_card_that_it_takes_and_no_other(world):
    cards = [
        world.add(skills=["seo"] if n % 2 else [], labels=["a"]) for n in range(20)
    ]
    by = able(world, "seo")
    with held_open(lambda: world.ask(by, labels=["a"])) as first:
        taken = first.result.card.id
        assert taken == cards[0]
        with transaction.atomic():
            free = Card.objects.select_for_update(skip_locked=True)
            assert len(free.filter(column_id=world.queue)) == 19
        second = world.ask(by, labels=["a"])
        assert second.card.id == cards[1]


@pytest.mark.django_db(transaction=True)
def test_a_worker_without_skills_looks_at_none_of_a_thousand_cards_that_ask_for_some(
    world,
):
    for _ in range(4):
        world.add_many(250, priority=1, skills=["seo"])
    world.add_many(3)
    world.claim()
    with explained() as statements:
        world.claim()
    (claim,) = [one for one in statements if "WITH asked" in one.text]
    for node in claim.on("boards_card"):
        assert node.rows_looked_at <= 5, (node.index, node.rows_looked_at)


@pytest.mark.django_db(transaction=True)
def test_a_choice_walks_along_the_open_cards_and_stops_at_its_own(world):
    fill(world, 20_000, in_the_way=False)
    add(world, 20_000, priority=1, state="done")
    world.add(skills=["seo"])
    by = able(world, "seo", "german")
    world.claim(by)
    for more in ({}, {"skills": ["seo"]}):
        with explained() as statements:
            world.claim(by, **more)
        claim = [one for one in statements if "WITH asked" in one.text][-1]
        nodes = [
            node
            for node in claim.named("picked").below()
            if node.table == "boards_card"
        ]
        assert {node.index for node in nodes} == {"card_live"}
        if not more:
            assert sum(node.rows_looked_at for node in nodes) <= 5
