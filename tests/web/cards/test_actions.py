"""Comments, another round, taking away; and what has happened to a card."""

from boards.history import EVENTS_PER_PAGE, history
from boards.reads import comments
from boards.verbs.cards import edit_card
from leases.timeline import timeline
from leases.verbs.complete import complete
from leases.verbs.give_back import release
from leases.verbs.renew import renew
from tests.builders import an_agent, lapse, receipt
from tests.web.cards.conftest import read, url


def _texts(world, card):
    found = comments(world.owner, card_id=card, page_size=50, page_token="")
    return [one.text for one in found.items]


def test_a_comment_is_added_changed_and_deleted(world, person):
    card = world.add()
    person.post(url(world, card, "/comments"), {"text": "First\r\nline"})
    assert _texts(world, card) == ["First\nline"]
    (one,) = comments(world.owner, card_id=card, page_size=1, page_token="").items
    person.post(url(world, card, f"/comments/{one.id}/edit"), {"text": "Second"})
    assert _texts(world, card) == ["Second"]
    person.post(url(world, card, f"/comments/{one.id}/delete"))
    assert _texts(world, card) == []


def test_a_comment_that_is_too_long_is_not_lost(world, person):
    card = world.add()
    text = "x" * 20_001
    answer = person.post(url(world, card, "/comments"), {"text": text})
    assert answer.status_code == 422
    assert text in answer.content.decode()


def test_a_failed_card_gets_another_round(world, person):
    card = world.add()
    world.fail_card(requeue=False)
    assert "Retry" in person.get(url(world, card)).content.decode()
    person.post(url(world, card, "/requeue"))
    assert read(world, card).state == "open"


def test_taking_away_names_the_holder_first_and_tells_why_afterwards(world, person):
    card = world.add()
    held = world.claim()
    page = person.get(url(world, card)).content.decode()
    assert f"Take it away from @{world.worker.handle}" in page
    fields = {"lease": held.lease.id, "reason": "Wrong brief"}
    person.post(url(world, card, "/take-away"), fields)
    assert read(world, card).state == "open"
    assert "Wrong brief" in person.get(url(world, card)).content.decode()


def test_the_timeline_tells_every_attempt_latest_first(world):
    card = world.add()
    held = world.claim()
    renew(world.worker, **receipt(held))
    release(world.worker, **receipt(held), note="Half done")
    world.fail_card(reason="No network")
    third = world.claim(an_agent(world.workspace))
    found = timeline(world.owner, card_id=card)
    assert [one.state for one in found.entries] == ["active", "failed", "released"]
    assert found.entries[1].reason == "No network"
    assert (found.entries[2].note, found.entries[2].heartbeats) == ("Half done", 1)
    assert found.total == 3
    assert found.card.lease.pk == third.lease.id


def test_a_lapsed_lease_is_shown_as_lapsed_before_anybody_has_taken_over(world):
    card = world.add()
    lapse(world.claim())
    (one,) = timeline(world.owner, card_id=card).entries
    assert one.state == "lapsed"


def test_a_result_is_shown_with_its_attempt(world, person):
    card = world.add()
    held = world.claim()
    complete(world.worker, **receipt(held), output={"url": "https://example.org/9"})
    page = person.get(url(world, card)).content.decode()
    assert "Completed" in page
    assert "https://example.org/9" in page


def test_the_history_is_paged_and_names_columns(world):
    card = world.add()
    for i in range(EVENTS_PER_PAGE):
        edit_card(world.owner, card_id=card, title=f"Title {i}")
    first = history(world.owner, card_id=card)
    second = history(world.owner, card_id=card, before=first.before)
    assert len(first.items) == EVENTS_PER_PAGE
    assert [one.type for one in second.items] == ["card.created"]
    assert second.before is None
    world.claim()
    (claimed, *_) = history(world.owner, card_id=card).items
    assert claimed.actor.handle == world.worker.handle
