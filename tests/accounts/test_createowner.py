"""`manage.py createowner`: the first person without the page."""

import io

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Actor, User
from accounts.roles import WorkspaceRole

pytestmark = pytest.mark.django_db
PASSWORD = "wide-harbour-41"


def create(monkeypatch, password=PASSWORD, username="ann"):
    monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
    call_command("createowner", workspace="Ink & Co", username=username)


def test_it_makes_the_first_owner_who_can_sign_in(monkeypatch, client):
    create(monkeypatch)
    actor = Actor.objects.get(kind=Actor.Kind.PERSON)
    assert (actor.handle, actor.role) == ("ann", WorkspaceRole.OWNER)
    assert actor.workspace.name == "Ink & Co"
    assert client.login(username="ann", password=PASSWORD)


def test_it_does_so_once(monkeypatch):
    create(monkeypatch)
    with pytest.raises(CommandError, match="There are people here already"):
        create(monkeypatch, username="bob")
    assert User.objects.count() == 1


def test_what_does_not_fit_is_named_and_makes_nothing(monkeypatch):
    with pytest.raises(CommandError, match=r"^password: "):
        create(monkeypatch, password="short")
    assert not User.objects.exists()


def test_two_passwords_that_differ_make_nothing(monkeypatch):
    typed = iter(["wide-harbour-41", "wide-harbour-14"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(
        "novum.management.commands.createowner.getpass", lambda *_: next(typed)
    )
    with pytest.raises(CommandError, match="differ"):
        call_command("createowner", workspace="Ink & Co", username="ann")
    assert not User.objects.exists()
