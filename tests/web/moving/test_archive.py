"""Archiving from the board, and back."""

from tests.builders import card_row, lease_row
from tests.web.moving.conftest import told


def test_undo_of_archiving_restores(world, person):
    card = world.add("Idea")
    answer = person.script(f"/cards/{card}/archive", version=1)
    assert told(answer)["archived"] == {"card": str(card)}
    assert world.shown() == []
    undo = told(answer)["undoable"]
    assert undo["text"] == "Archived “Idea”"
    back = person.client.post(undo["url"], headers={"HX-Request": "true"})
    assert f'id="card-{card}"' in back.content.decode()
    assert world.shown() == [card]


def test_a_held_card_is_asked_about_first(world, person):
    world.add()
    held = world.claim()
    path = f"/cards/{held.card.id}/archive"
    question = person.form(path)
    assert question.status_code == 409
    assert f'action="/boards/{world.board}{path}"' in question.content.decode()
    person.form(path, force="on")
    assert lease_row(held.lease.id).state == "revoked"
    assert card_row(held.card.id).archived_at


def test_a_card_that_has_changed_since_is_not_archived(world, person):
    card = world.add()
    person.script(f"/cards/{card}/move", column=world.done)
    assert person.script(f"/cards/{card}/archive", version=1).status_code == 412
    assert card_row(card).archived_at is None
