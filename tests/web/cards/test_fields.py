"""Every field of a card: saved by its form, refused with what was typed in place."""

import json
from datetime import UTC, datetime

import pytest

from boards.verbs.cards import edit_card
from novum.web.card_fields import FIELDS, digest
from tests.web.cards.conftest import read, url

PART = {"HX-Request": "true"}


def send(person, world, card, name, value, *, seen=None, **more):
    """As the form does that shows the card as it is, or as it was (`seen`)."""
    shown = seen or read(world, card)
    fields = {
        "value": value,
        "version": shown.version,
        "seen": digest(FIELDS[name].show(shown)),
    }
    return person.post(url(world, card, f"/edit/{name}"), fields, **more)


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("title", "  A new\n title ", "title", "A new title"),
        ("description", "One\r\n\r\nTwo", "description", "One\n\nTwo"),
        ("labels", "email, b,, email", "labels", ["email", "b"]),
        ("labels", "", "labels", []),
        ("skills", "German, research,,german", "skills", ["german", "research"]),
        ("skills", " ", "skills", []),
        ("priority", "1", "priority", 1),
        ("due", "2026-12-24T18:30", "due", datetime(2026, 12, 24, 18, 30, tzinfo=UTC)),
        ("properties", '{"a": [1, true]}', "properties", {"a": [1, True]}),
        ("properties", "  ", "properties", {}),
        ("payload", '"text"', "payload", "text"),
        ("payload", "0", "payload", 0),
    ],
)
def test_a_field_is_saved_as_written(world, person, name, text, field, value):
    card = world.add("Old", labels=["old"], priority=4, properties={"old": 1})
    answer = send(person, world, card, name, text)
    assert answer.status_code == 302
    assert getattr(read(world, card), field) == value


def test_the_assignee_is_a_handle_or_nobody(world, person):
    card = world.add()
    send(person, world, card, "assignee", world.worker.handle)
    assert read(world, card).assignee.handle == world.worker.handle
    send(person, world, card, "assignee", "")
    assert read(world, card).assignee is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("title", "   ", "can be seen"),
        ("priority", "9", "1 (first) to 5"),
        ("due", "tomorrow", "date and time"),
        ("skills", "x" * 51, "1 to 50 characters"),
        ("assignee", "nobody-here", "Nobody here"),
        ("properties", "[1]", "an object"),
        ("properties", '{"a": 1, "a": 2}', "two members"),
        ("payload", '{"a": 1,}', "line 1 column"),
        ("payload", "NaN", "Numbers are finite"),
    ],
)
def test_what_does_not_fit_is_refused_and_stays_in_its_field(
    world, person, name, text, said
):
    card = world.add("Old")
    before = read(world, card)
    answer = send(person, world, card, name, text)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert read(world, card) == before
    if name in ("properties", "payload"):
        assert text.replace('"', "&quot;") in page


def test_two_people_on_one_field_both_texts_are_shown_and_none_is_lost(world, person):
    card = world.add("Old")
    seen = read(world, card)
    edit_card(world.owner, card_id=card, description="Theirs")
    answer = send(person, world, card, "description", "Mine & yours", seen=seen)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Theirs" in page
    assert "Mine &amp; yours" in page
    assert read(world, card).description == "Theirs"
    # Having seen theirs, the second press of the same button replaces it.
    assert send(person, world, card, "description", "Mine").status_code == 302
    assert read(world, card).description == "Mine"


def test_a_claim_in_between_does_not_stop_a_save(world, person):
    card = world.add("Old")
    seen = read(world, card)
    world.claim()
    assert read(world, card).version > seen.version
    answer = send(person, world, card, "description", "Mine", seen=seen)
    assert answer.status_code == 302
    assert read(world, card).description == "Mine"


def test_a_script_hears_of_a_conflict_in_the_sheet_alone(world, person):
    card = world.add("Old")
    seen = read(world, card)
    edit_card(world.owner, card_id=card, title="Theirs")
    answer = send(person, world, card, "title", "Mine", seen=seen, headers=PART)
    assert answer.status_code == 409
    assert "<html" not in answer.content.decode()
    assert send(person, world, card, "title", "X", headers=PART).status_code == 204


def test_an_unknown_field_is_not_found(world, person):
    card = world.add()
    answer = person.post(url(world, card, "/edit/state"), {"value": "done"})
    assert answer.status_code in (302, 404)
    assert read(world, card).state == "open"


def test_a_preview_saves_nothing_and_keeps_the_text(world, person):
    card = world.add("Old", description="Before")
    fields = {"value": "**Bold** & more", "version": 1, "seen": "x"}
    page = person.post(url(world, card, "/preview"), fields).content.decode()
    assert "<strong>Bold</strong>" in page
    assert "**Bold** &amp; more" in page
    assert read(world, card).description == "Before"
    part = person.post(url(world, card, "/preview"), fields, headers=PART)
    assert part.content.decode().strip() == "<p><strong>Bold</strong> &amp; more</p>"


def test_json_is_shown_pretty_and_comes_back_the_same(world, person):
    payload = {"ü": [1, 2.5, None, "</textarea><script>"]}
    card = world.add("Old", payload=payload)
    text = json.dumps(payload, indent=2, ensure_ascii=False)
    assert "</textarea><script>" not in person.get(url(world, card)).content.decode()
    send(person, world, card, "payload", text)
    assert read(world, card).payload == payload


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("title", "Saved"),
        ("due", "2026-12-24T18:30"),
        ("labels", "one, two"),
        ("skills", "german, research"),
        ("priority", "1"),
    ],
)
def test_the_same_value_sent_twice_at_once_is_no_clash(person, world, name, text):
    card = world.add("Card")
    before = read(world, card)
    for _ in range(2):
        answer = send(person, world, card, name, text, seen=before, headers=PART)
        assert answer.status_code == 204
    assert FIELDS[name].show(read(world, card)) == text
