"""On a card's sheet: why nobody takes it, calling it off, who is at it anyway."""

import html
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from accounts.models import Actor
from accounts.roles import WorkspaceRole
from boards.models import Card
from boards.verbs.cards import NewCard, archive_card, create_card, edit_card
from leases.models import Ask
from leases.verbs.activity import set_card_activity
from leases.verbs.cancel import request_cancel
from leases.verbs.claim_card import claim_card
from leases.verbs.pause import pause
from leases.verbs.renew import renew
from tests.builders import a_person, lapse, lease_row, receipt
from tests.web.cards.conftest import read, signed_in, url

PART = {"HX-Request": "true"}
QUESTION = "Why is nobody taking this?"
ANSWERED = 'aria-expanded="true"'


def page_of(client, world, card, rest="", **more):
    return html.unescape(client.get(url(world, card, rest), **more).content.decode())


def why(client, world, card):
    """The answer alone, as text that was asked for."""
    page = page_of(client, world, card, "?why=1")
    return page.split('id="sheet-part-why"')[1].split("</section>")[0]


def held(world, card):
    world.claim()


def paused(world, card):
    pause(world.owner, board_id=world.board, column_id=world.queue, reason="Quota")


def full(world, card):
    world.set(concurrency_limit=1)
    other = world.add("Another", priority=1)
    claim_card(world.worker, card_id=other)


def changed(**fields):
    return lambda world, card: edit_card(world.owner, card_id=card, **fields)


def kept(world, card):
    edit_card(world.owner, card_id=card, assignee=world.worker.handle)


def misfit(world, card):
    world.set(input_schema={"type": "object", "required": ["url"]})


def called_off(world, card):
    request_cancel(world.owner, card_id=card)


TOMORROW = datetime(2031, 5, 6, 7, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("make", "code", "said"),
    [
        (paused, "paused", "Quota"),
        (full, "at_capacity", "only place is taken"),
        (changed(not_before=TOMORROW), "waiting", "6 May 07:08:00 UTC"),
        (changed(skills=["german"]), "skills", "No agent here has them."),
        (kept, "assigned", "others aren't offered it"),
        (misfit, "misfit", "input schema"),
        (called_off, "ended", "It was called off."),
        (held, "held", "is working on it"),
        (lambda world, card: world.set(enabled=False), "not_a_queue", "is no queue"),
        (
            lambda world, card: archive_card(world.owner, card_id=card),
            "archived",
            "archived",
        ),
    ],
)
def test_every_rule_that_keeps_a_card_back_is_a_sentence(
    world, person, make, code, said
):
    card = world.add()
    make(world, card)
    answer = why(person, world, card)
    assert f'data-rule="{code}"' in answer
    assert said in answer


def test_a_lapsed_lease_is_wondered_at_too(world, person):
    card = world.add()
    lapse(world.claim())
    assert QUESTION in page_of(person, world, card)
    assert 'data-rule="lapsed"' in why(person, world, card)


def test_a_claimable_card_has_its_place_and_when_somebody_asked(world, person):
    first, second, third = (world.add() for _ in range(3))
    Ask.objects.filter(pk=world.queue).delete()
    answer = why(person, world, first)
    assert "next in line" in answer
    assert "No worker has ever asked" in answer
    Ask.objects.create(column_id=world.queue, last_at=now())
    assert "1 card before it" in why(person, world, second)
    answer = why(person, world, third)
    assert "2 cards before it" in answer
    assert "A worker last asked" in answer
    Ask.objects.update(last_at=now() - timedelta(minutes=11))
    assert "for ten minutes" in why(person, world, third)


def test_skills_that_somebody_has_keep_it_from_others_only(world, person):
    card = world.add(skills=["german"])
    Actor.objects.filter(pk=world.worker.actor_id).update(skills=["german"])
    answer = why(person, world, card)
    assert "next in line" in answer
    assert "Only for agents with all of" in answer
    assert "No agent here has them" not in answer


def test_the_question_is_answered_only_when_it_is_asked(world, person):
    card = world.add()
    page = page_of(person, world, card)
    assert QUESTION in page
    assert ANSWERED not in page
    assert ANSWERED in page_of(person, world, card, "?why=1", headers=PART)


def test_the_answer_costs_a_handful_of_queries(world, person):
    card = world.add(skills=["german"])
    page_of(person, world, card)
    with CaptureQueriesContext(connection) as plain:
        page_of(person, world, card, headers=PART)
    with CaptureQueriesContext(connection) as asked:
        page_of(person, world, card, "?why=1", headers=PART)
    assert len(asked) - len(plain) <= 10


def test_a_card_outside_of_queues_raises_no_question(world, person):
    card = world.add(column=world.column("Ideas"))
    page = page_of(person, world, card)
    assert QUESTION not in page
    assert "Call off" not in page


def test_an_open_card_is_called_off_at_once_and_says_by_whom_and_why(world, person):
    card = world.add()
    assert "nobody is offered it again" in page_of(person, world, card)
    person.post(url(world, card, "/call-off"), {"reason": "No longer <needed>"})
    found = read(world, card)
    assert (found.state, found.cancelled_at is not None) == ("failed", True)
    page = person.get(url(world, card)).content.decode()
    assert f"Called off by <bdi>{world.owner.name}" in page
    assert "No longer &lt;needed&gt;" in page
    assert "Call off…" not in page
    assert "Retry" in page


def test_a_holder_is_named_asked_and_waited_for(world, person):
    card = world.add()
    claim = world.claim()
    page = page_of(person, world, card)
    assert f"<bdi>@{world.worker.handle}</bdi> is working on it and hears" in page
    assert f"Ask @{world.worker.handle} to stop" in page
    answer = person.post(
        url(world, card, "/call-off"), {"reason": "Stop"}, headers=PART
    )
    assert "asked to stop" in answer.headers["HX-Trigger"]
    assert lease_row(claim.lease.id).cancel_requested_at
    page = page_of(person, world, card)
    assert f"<bdi>@{world.worker.handle}</bdi> is asked to stop." in page
    assert "Call off…" not in page
    renew(world.worker, **receipt(claim))
    assert "is asked to stop" in page_of(person, world, card)


def test_who_holds_it_themselves_calls_it_off_at_once(world, person):
    card = world.add()
    claim_card(world.owner, card_id=card)
    assert "You are working on it" in page_of(person, world, card)
    person.post(url(world, card, "/call-off"))
    assert read(world, card).cancelled_at


def test_its_creator_may_and_other_editors_may_not(world):
    creator, other = (a_person(world.workspace, WorkspaceRole.MEMBER) for _ in "12")
    card = create_card(
        creator, board_id=world.board, column_id=world.queue, card=NewCard(title="X")
    )
    assert "Call off…" not in page_of(signed_in(other), world, card)
    signed_in(other).post(url(world, card, "/call-off"))
    assert read(world, card).state == "open"
    assert "Call off…" in page_of(signed_in(creator), world, card)
    signed_in(creator).post(url(world, card, "/call-off"))
    assert read(world, card).cancelled_at


def test_what_has_ended_stays_and_says_so(world, person):
    card = world.add()
    world.fail_card(requeue=False)
    assert "Call off…" not in page_of(person, world, card)
    answer = person.post(url(world, card, "/call-off"), headers=PART)
    assert answer.status_code == 409
    assert read(world, card).cancelled_at is None


def test_who_is_at_it_without_a_lease_is_named_with_what_they_do(world, person):
    card = world.add()
    set_card_activity(world.worker, card_id=card, doing="Reading <sources>")
    page = person.get(url(world, card)).content.decode()
    assert "is at it, without a lease" in page
    assert "Reading &lt;sources&gt;" in page
    Card.objects.filter(pk=card).update(doing_at=now() - timedelta(minutes=11))
    assert "without a lease" not in page_of(person, world, card)


def test_the_holders_line_is_at_its_attempt(world, person):
    card = world.add()
    renew(world.worker, **receipt(world.claim()), doing="Page 3 of 9")
    page = page_of(person, world, card)
    assert "Page 3 of 9" in page.split('id="sheet-part-attempts"')[1]
    assert "without a lease" not in page
