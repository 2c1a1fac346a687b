"""Quick add: one title, or several lines."""

from boards.models import Card
from tests.web.moving.conftest import told


def titles(world):
    cards = Card.objects.in_bulk(world.shown())
    return [cards[one].title for one in world.shown()]


def test_a_script_gets_the_new_card(world, person):
    answer = person.script(f"/columns/{world.queue}/cards", title=" Write it ")
    assert answer.status_code == 200
    assert f'data-into="{world.queue}"' in answer.content.decode()
    assert titles(world) == ["Write it"]
    assert told(answer)["added"]["cards"] == [str(card) for card in world.shown()]


def test_a_form_goes_back_to_the_board_at_the_new_card(world, person):
    answer = person.form(f"/columns/{world.queue}/cards", title="Write it")
    (card,) = world.shown()
    assert answer["Location"] == f"/boards/{world.board}#card-{card}"


def test_several_lines_are_several_cards_in_their_order(world, person):
    answer = person.script(
        f"/columns/{world.queue}/cards", titles="One\r\n\r\n  Two\nThree"
    )
    assert titles(world) == ["One", "Two", "Three"]
    assert told(answer)["added"]["text"] == "Added 3 cards"
    assert answer.content.decode().count("data-into") == 3


def test_too_many_lines_and_no_title_are_refused(world, person):
    path = f"/columns/{world.queue}/cards"
    assert person.script(path, titles="x\n" * 501).status_code == 422
    assert person.script(path, title="   ").status_code == 422
    assert world.shown() == []
