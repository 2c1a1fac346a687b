"""An endpoint that was switched off by itself is listed until it's on again."""

import pytest

from accounts.roles import WorkspaceRole
from novum import needs
from supervision.needs.looking import Wanted
from tests.builders import a_person
from webhooks.models import Endpoint
from webhooks.verbs.endpoints import edit_endpoint
from webhooks.verbs.switch_off import switch_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(world):
    return Endpoint.objects.create(
        workspace=world.workspace,
        owner_id=world.owner.actor_id,
        url="https://example.com/hook",
        types=["card.created"],
    )


def look(caller, **wanted):
    return needs.needs(caller, Wanted(**wanted))


@pytest.mark.parametrize("why", [Endpoint.Off.GONE, Endpoint.Off.FAILING])
def test_it_appears_and_goes_when_it_is_on_again(world, endpoint, why):
    assert look(world.owner).total == 0
    switch_off(endpoint.pk, why)
    found = look(world.owner)
    (one,) = found.items
    assert found.counts["endpoint_off"] == needs.alarm(world.owner) == 1
    assert (one.reason, one.link) == ("endpoint_off", f"/webhooks/{endpoint.pk}")
    (action,) = one.actions
    assert action.operation == "edit_webhook_endpoint"
    assert look(world.owner, mine=True).total == 1
    assert look(world.owner, board_id=world.board).total == 0
    assert look(world.owner, reason="lapsed").items == []
    edit_endpoint(world.owner, endpoint_id=endpoint.pk, changes={"enabled": True})
    assert look(world.owner).total == needs.alarm(world.owner) == 0


def test_switched_off_by_hand_needs_nobody_and_members_are_not_told(world, endpoint):
    edit_endpoint(world.owner, endpoint_id=endpoint.pk, changes={"enabled": False})
    assert look(world.owner).total == 0
    switch_off(endpoint.pk, Endpoint.Off.GONE)
    Endpoint.objects.update(enabled=False, off=Endpoint.Off.GONE)
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    assert look(member).total == needs.alarm(member) == 0
    admin = a_person(world.workspace, WorkspaceRole.ADMIN)
    assert look(admin).total == 1
    assert look(admin, mine=True).total == 0
