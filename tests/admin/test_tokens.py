"""Worker tokens in the admin: made elsewhere, revoked here."""

import pytest
from django.contrib.auth.models import Permission

from accounts.credentials import caller_of_token
from accounts.errors import Unauthenticated
from accounts.models import WorkerToken
from accounts.roles import WorkspaceRole
from tests.admin.pages import change_page, list_page, sign_in, user_of
from tests.builders import a_person, a_seat, a_token, a_workspace


@pytest.fixture
def tokens(world):
    seat = a_seat(world.workspace)
    return [a_token(seat) for _ in range(3)]


def revoke(client, *rows):
    chosen = [str(row.pk) for row in rows]
    sent = {"action": "revoke", "_selected_action": chosen}
    return client.post(list_page(WorkerToken), sent, follow=True)


def test_revoked_tokens_are_refused_at_once_and_the_others_are_not(
    world, tokens, client
):
    sign_in(client, user_of(world.owner), is_superuser=True)
    (one, row_one), (two, row_two), (three, _) = tokens
    for secret in (one, two, three):
        caller_of_token(secret)
    assert "2 revoked" in revoke(client, row_one, row_two).content.decode()
    for secret in (one, two):
        with pytest.raises(Unauthenticated):
            caller_of_token(secret)
    assert caller_of_token(three)


def test_a_token_is_revoked_on_its_own_page(world, tokens, client):
    sign_in(client, user_of(world.owner), is_superuser=True)
    secret, row = tokens[0]
    url = change_page(row)
    name = client.get(url).context["action_form"]["action"].html_name
    client.post(url, {name: "revoke", "_selected_action": str(row.pk)})
    with pytest.raises(Unauthenticated):
        caller_of_token(secret)


def test_revoking_again_changes_nothing(world, tokens, client):
    sign_in(client, user_of(world.owner), is_superuser=True)
    _, row = tokens[0]
    revoke(client, row)
    before = WorkerToken.objects.get(pk=row.pk).revoked_at
    revoke(client, row)
    assert WorkerToken.objects.get(pk=row.pk).revoked_at == before


@pytest.mark.parametrize("role", [None, WorkspaceRole.MEMBER])
def test_who_is_no_admin_of_the_workspace_revokes_nothing(world, tokens, client, role):
    person = a_person(world.workspace, role) if role else a_person(a_workspace())
    sign_in(client, user_of(person), is_superuser=True)
    secret, row = tokens[0]
    answer = revoke(client, row)
    assert "warning" in answer.content.decode()
    assert caller_of_token(secret)


def test_staff_without_the_permission_has_no_such_action(world, tokens, client):
    user = user_of(world.owner)
    sign_in(client, user)
    user.user_permissions.add(Permission.objects.get(codename="view_workertoken"))
    secret, row = tokens[0]
    assert client.get(list_page(WorkerToken)).status_code == 200
    revoke(client, row)
    assert caller_of_token(secret)
