"""People and seats in the admin: by the verbs that have the rules."""

import pytest
from django.contrib.auth.models import Permission

from accounts.credentials import caller_of_token
from accounts.errors import Unauthenticated
from accounts.models import Actor, User, Workspace
from accounts.roles import WorkspaceRole
from accounts.verbs.profile import create_my_token
from leases.verbs.claim_card import claim_card
from tests.admin.pages import (
    change_page,
    errors_of,
    form_of,
    list_page,
    page,
    sign_in,
    user_of,
)
from tests.builders import a_person, a_seat, a_token, a_workspace, card_row, lease_row


def staff(client, caller):
    """Signed in with every permission, but not running the server."""
    user = user_of(caller)
    sign_in(client, user)
    user.user_permissions.set(Permission.objects.all())
    return client


def row(caller) -> Actor:
    return Actor.objects.get(pk=caller.actor_id)


def act(client, action, *callers):
    chosen = [str(one.actor_id) for one in callers]
    sent = {"action": action, "_selected_action": chosen}
    return client.post(list_page(Actor), sent, follow=True).content.decode()


def change(client, obj, **fields):
    url = change_page(obj)
    return client.post(url, form_of(client, url) | fields)


def is_read_only(client, obj) -> bool:
    text = client.get(change_page(obj)).content.decode()
    return 'name="_save"' not in text and 'name="role"' not in text


# Roles


def test_nobody_makes_themselves_owner(world, client):
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    staff(client, member)
    assert is_read_only(client, row(member))
    answer = client.post(change_page(row(member)), {"role": "3"})
    assert answer.status_code == 403
    assert row(member).role == WorkspaceRole.MEMBER


def test_an_admin_makes_no_owner_and_changes_none(world, client):
    boss = a_person(world.workspace, WorkspaceRole.ADMIN)
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    staff(client, boss)
    for one in (boss, member):
        answer = change(client, row(one), role="3")
        assert "Only owners make owners" in str(errors_of(answer))
    assert change(client, row(member), role="2").status_code == 302
    assert is_read_only(client, row(world.owner))
    answer = client.post(change_page(row(world.owner)), {"role": "1"})
    assert answer.status_code == 403
    roles = [row(one).role for one in (boss, member, world.owner)]
    assert roles == [2, 2, 3]


def test_the_last_owner_stays_one(world, admin):
    answer = change(admin, row(world.owner), role="1")
    assert "at least one owner" in str(errors_of(answer))
    assert row(world.owner).role == WorkspaceRole.OWNER


def test_staff_of_another_workspace_change_and_add_nobody(world, client):
    stranger = a_person(a_workspace())
    sign_in(client, user_of(stranger), is_superuser=True)
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    assert is_read_only(client, row(member))
    assert client.post(change_page(row(member)), {"role": "3"}).status_code == 403
    sent = {"workspace": str(world.workspace.pk), "kind": "person", "role": "3"}
    sent |= {"user": str(user_of(stranger).pk)}
    url = page(Actor, "add")
    answer = client.post(url, form_of(client, url) | sent)
    assert "member of no workspace" in str(errors_of(answer))
    assert not Actor.objects.filter(workspace=world.workspace, role=3).exclude(
        pk=world.owner.actor_id
    )


def test_whoever_is_added_has_the_names_of_their_login(world, admin):
    eve = user_of(a_person(a_workspace()))
    sent = {"workspace": str(world.workspace.pk), "kind": "person", "role": "1"}
    sent |= {"user": str(eve.pk)}
    url = page(Actor, "add")
    refused = admin.post(url, form_of(admin, url) | sent | {"handle": "other"})
    assert "of their login" in str(errors_of(refused)["handle"])
    assert admin.post(url, form_of(admin, url) | sent).status_code == 302
    made = Actor.objects.get(workspace=world.workspace, user=eve)
    assert (made.handle, made.role) == (eve.handle, WorkspaceRole.MEMBER)


def test_a_seat_is_added_by_its_verb(world, admin):
    url = page(Actor, "add")
    sent = {"workspace": str(world.workspace.pk), "kind": "agent"}
    refused = admin.post(url, form_of(admin, url) | sent)
    assert "1 to 39" in str(errors_of(refused)["handle"])
    answer = admin.post(url, form_of(admin, url) | sent | {"handle": "new"})
    assert answer.status_code == 302
    assert Actor.objects.get(handle="new").name == "new"


# Disabling


def test_the_last_owner_is_not_disabled_and_the_page_says_why(world, admin):
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    text = act(admin, "disable", world.owner, member)
    assert f"@{world.owner.handle}: A workspace keeps at least one owner" in text
    assert "1 disabled" in text
    assert row(world.owner).disabled_at is None
    assert row(member).disabled_at


def test_only_owners_disable_owners(world, client):
    boss = a_person(world.workspace, WorkspaceRole.ADMIN)
    other = a_person(world.workspace)
    text = act(staff(client, boss), "disable", other)
    assert "Only owners make owners and change them" in text
    assert row(other).disabled_at is None


@pytest.mark.parametrize("role", [WorkspaceRole.MEMBER, None])
def test_who_is_no_admin_disables_nobody(world, client, role):
    by = a_person(world.workspace, role) if role else a_person(a_workspace())
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    for action in ("disable", "enable"):
        assert "warning" in act(staff(client, by), action, member, world.worker)
    assert row(member).disabled_at is None
    assert row(world.worker).disabled_at is None


def test_the_disabled_are_out_at_once_and_their_cards_are_open_again(world, admin):
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    _, secret = create_my_token(member, name="laptop")
    assert caller_of_token(secret)
    held = claim_card(member, card_id=world.add())
    act(admin, "disable", member)
    with pytest.raises(Unauthenticated):
        caller_of_token(secret)
    assert lease_row(held.lease.id).state == "revoked"
    assert card_row(held.card.id).state == "open"


# Logins


def test_the_login_of_the_last_owner_is_not_ended(world, admin):
    owner = a_person(a_workspace())
    user = user_of(owner)
    sent = form_of(admin, change_page(user)) | {"email": "new@example.com"}
    del sent["is_active"]
    answer = admin.post(change_page(user), sent)
    assert "at least one owner" in str(errors_of(answer))
    user.refresh_from_db()
    assert (user.is_active, user.email) == (True, "")


def test_an_ended_login_is_out_at_once_and_its_cards_are_open_again(world, admin):
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    _, secret = create_my_token(member, name="laptop")
    assert caller_of_token(secret)
    held = claim_card(member, card_id=world.add())
    user = user_of(member)
    sent = form_of(admin, change_page(user))
    del sent["is_active"]
    assert admin.post(change_page(user), sent).status_code == 302
    with pytest.raises(Unauthenticated):
        caller_of_token(secret)
    assert lease_row(held.lease.id).state == "revoked"
    assert card_row(held.card.id).state == "open"
    assert admin.post(change_page(user), sent | {"is_active": "on"}).status_code == 302
    assert User.objects.get(pk=user.pk).is_active
    assert caller_of_token(secret)


# Workspaces


def test_a_workspace_is_owned_by_whoever_makes_it(world, admin):
    url = page(Workspace, "add")
    bad = admin.post(url, form_of(admin, url) | {"name": "\u200b", "key": "1"})
    assert {"name", "key"} <= set(errors_of(bad))
    sent = {"name": "New place", "key": "NEW"}
    assert admin.post(url, form_of(admin, url) | sent).status_code == 302
    made = Workspace.objects.get(key="NEW")
    (owner,) = made.actors.all()
    assert (owner.user, owner.role) == (user_of(world.owner), WorkspaceRole.OWNER)


def test_a_workspace_is_renamed_by_its_admins(world, client):
    other = a_workspace()
    staff(client, a_person(other))
    assert client.post(change_page(world.workspace), {"name": "x"}).status_code == 403
    assert change(client, other, name="Renamed").status_code == 302
    other.refresh_from_db()
    assert other.name == "Renamed"


# Tokens


def test_ones_own_token_is_revoked_too(world, admin):
    _, secret = create_my_token(world.owner, name="laptop")
    _, seats = a_token(a_seat(world.workspace))
    token = row(world.owner).tokens.get()
    chosen = [str(token.pk), str(seats.pk)]
    sent = {"action": "revoke", "_selected_action": chosen}
    text = admin.post(list_page(type(token)), sent, follow=True).content.decode()
    assert "2 revoked" in text
    with pytest.raises(Unauthenticated):
        caller_of_token(secret)
