"""Idempotency keys: the same key and body, the same thing made, once."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now

from accounts.credentials import caller_of_token
from accounts.errors import Invalid
from accounts.models import Actor, RememberedCall
from accounts.remembering import MAX_KEY_CHARACTERS, KeyReused, once
from boards.models import Card
from tests.builders import a_person, a_token, a_world
from tests.connections import together


def call(world, key="k", request=b"{}", title="Card", operation="create"):
    """A card made under a key; the ids of what was made, then or now."""
    return once(
        world.owner,
        operation=operation,
        key=key,
        request=request,
        make=lambda: [world.add(title)],
        made_by=lambda made: made,
        again=lambda made: list(made),
    )


def test_the_same_key_makes_one_thing(world):
    first = call(world)
    assert [call(world) for _ in range(3)] == [first] * 3
    assert world.shown() == first


def test_another_key_another_caller_and_another_operation_are_their_own(world):
    call(world)
    call(world, key="other")
    call(world, operation="other")
    world.owner = a_person(world.workspace)
    call(world)
    assert len(world.shown()) == 4


def test_another_body_is_refused(world):
    call(world)
    with pytest.raises(KeyReused):
        call(world, request=b'{"title": "x"}')
    assert len(world.shown()) == 1


def test_what_makes_nothing_is_not_remembered(world):
    def nothing(made):
        return once(
            world.owner,
            operation="claim",
            key="k",
            request=b"",
            make=lambda: made,
            made_by=lambda found: found,
            again=lambda found: list(found),
        )

    assert nothing([]) == []
    assert not RememberedCall.objects.exists()
    later = [uuid4()]
    assert nothing(later) == later
    assert nothing([uuid4()]) == later


def test_a_failure_leaves_no_key_behind(world):
    with pytest.raises(Invalid):
        call(world, title="")
    assert not RememberedCall.objects.exists()
    assert call(world)


def test_after_a_day_the_key_is_free_again(world):
    first = call(world)
    RememberedCall.objects.update(created_at=Now() - timedelta(hours=25))
    assert call(world, request=b"other") != first


@pytest.mark.parametrize("key", ["", "x" * (MAX_KEY_CHARACTERS + 1), "a\nb", "\0"])
def test_a_key_has_visible_characters_and_a_limit(world, key):
    with pytest.raises(Invalid):
        call(world, key=key)


@pytest.mark.django_db(transaction=True)
def test_many_at_once_with_one_key_make_one_thing():
    world = a_world()
    answers = together(*[lambda: call(world)] * 8)
    assert {tuple(answer) for answer in answers} == {tuple(answers[0])}
    assert Card.objects.filter(board_id=world.board).count() == 1


def test_a_token_is_a_credential_of_its_own(world):
    seat = Actor.objects.get(pk=world.worker.actor_id)
    for _ in range(2):
        world.owner = caller_of_token(a_token(seat)[0])
        call(world)
    assert len(world.shown()) == 2
