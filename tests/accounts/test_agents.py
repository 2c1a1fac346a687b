"""Agent seats and their tokens: made, changed, revoked; by admins only."""

from uuid import uuid4

import pytest

from accounts import reads
from accounts.credentials import caller_of_token
from accounts.errors import Forbidden, Invalid, NotFound, Unauthenticated
from accounts.roles import WorkspaceRole
from accounts.verbs.agents import (
    HandleTaken,
    create_agent,
    create_token,
    edit_agent,
    revoke_token,
)
from tests.builders import a_person, a_workspace, all_pages, an_agent, as_json


@pytest.fixture
def admin(db):
    return a_person(a_workspace(), WorkspaceRole.ADMIN)


def tokens(admin, agent):
    return list(all_pages(reads.tokens, admin, agent_id=agent))


def test_a_seat_is_named_and_has_no_token_yet(admin):
    agent = create_agent(admin, handle="@drafter", name="The drafter")
    found = reads.agent(admin, agent_id=agent)
    assert (found.handle, found.name, found.disabled) == (
        "drafter",
        "The drafter",
        False,
    )
    assert tokens(admin, agent) == []


@pytest.mark.parametrize("handle", ["", "-x", "Ann", "a b", "x" * 40, "é", "a\n"])
def test_a_handle_is_plain(admin, handle):
    with pytest.raises(Invalid):
        create_agent(admin, handle=handle)


def test_a_handle_is_once_in_a_workspace_people_counted(admin):
    create_agent(admin, handle="drafter")
    for handle in ("drafter", admin.handle):
        with pytest.raises(HandleTaken):
            create_agent(admin, handle=handle)
    other = a_person(a_workspace())
    assert create_agent(other, handle="drafter")


def test_a_token_works_and_its_secret_is_shown_once(admin):
    agent = create_agent(admin, handle="drafter")
    token, secret = create_token(admin, agent_id=agent, name="Worker 1")
    caller = caller_of_token(secret)
    assert (caller.actor_id, caller.token_id) == (agent, token)
    assert caller.scopes == {"read", "work", "write"}
    (shown,) = tokens(admin, agent)
    assert shown.hint.endswith(secret[-4:])
    assert secret not in as_json(shown)


@pytest.mark.parametrize("scopes", [[], ["all"], ["read", "Work"]])
def test_scopes_are_those_that_are_known(admin, scopes):
    agent = create_agent(admin, handle="drafter")
    with pytest.raises(Invalid):
        create_token(admin, agent_id=agent, name="x", scopes=scopes)


def test_a_revoked_token_is_refused_at_once_in_this_process(admin):
    agent = create_agent(admin, handle="drafter")
    token, secret = create_token(admin, agent_id=agent, name="x")
    other = create_token(admin, agent_id=agent, name="y")[1]
    assert caller_of_token(secret)
    for _ in range(2):
        revoke_token(admin, agent_id=agent, token_id=token)
    with pytest.raises(Unauthenticated):
        caller_of_token(secret)
    assert caller_of_token(other)


def test_a_disabled_seat_is_refused_with_all_its_tokens_until_enabled(admin):
    agent = create_agent(admin, handle="drafter")
    secrets = [create_token(admin, agent_id=agent, name="x")[1] for _ in range(2)]
    edit_agent(admin, agent_id=agent, disabled=True, name="Gone")
    assert reads.agent(admin, agent_id=agent).name == "Gone"
    for secret in secrets:
        with pytest.raises(Unauthenticated):
            caller_of_token(secret)
    edit_agent(admin, agent_id=agent, disabled=False)
    assert caller_of_token(secrets[0])


def test_a_token_belongs_to_its_seat(admin):
    agent, other = (create_agent(admin, handle=name) for name in ("one", "two"))
    token, secret = create_token(admin, agent_id=agent, name="x")
    for wrong in ((other, token), (agent, uuid4())):
        with pytest.raises(NotFound):
            revoke_token(admin, agent_id=wrong[0], token_id=wrong[1])
    assert caller_of_token(secret)


def test_it_takes_an_admin_of_the_workspace(admin):
    agent = create_agent(admin, handle="drafter")
    token, _ = create_token(admin, agent_id=agent, name="x")
    workspace = a_workspace()
    stranger = a_person(workspace)
    member = an_agent(workspace)
    with pytest.raises(Forbidden):
        create_agent(member, handle="x")
    for caller in (stranger, member):
        with pytest.raises(NotFound):
            edit_agent(caller, agent_id=agent, name="x")
        with pytest.raises(NotFound):
            create_token(caller, agent_id=agent, name="x")
        with pytest.raises(NotFound):
            revoke_token(caller, agent_id=agent, token_id=token)
        with pytest.raises(NotFound):
            reads.tokens(caller, agent_id=agent, page_size=5, page_token="")
