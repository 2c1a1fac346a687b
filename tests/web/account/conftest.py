"""Signed-in browsers without a browser."""

import pytest
from django.test import Client

from accounts.callers import Caller
from accounts.models import Actor
from accounts.roles import WorkspaceRole
from novum import limits
from tests.builders import World, a_person


def client_of(caller: Caller) -> Client:
    client = Client()
    actor = Actor.objects.select_related("user").get(pk=caller.actor_id)
    client.force_login(actor.user)
    return client


@pytest.fixture(autouse=True)
def _fresh_limits(settings):
    """Counted here only, from nothing: other tests sign in, too."""
    settings.REDIS_URL = ""
    limits._grants.clear()
    yield
    limits._grants.clear()


@pytest.fixture
def ann(world: World) -> Client:
    return client_of(world.owner)


@pytest.fixture
def member(world: World) -> Caller:
    return a_person(world.workspace, WorkspaceRole.MEMBER)


@pytest.fixture
def bob(member: Caller) -> Client:
    """Signed in as somebody who is no admin."""
    return client_of(member)
