from django.urls import URLPattern, path

from novum.web import agents, home, people, session, workspaces

_agent = "agents/<uuid:agent_id>"

urlpatterns: list[URLPattern] = [
    path("", home.home, name="home"),
    path("counts", home.counts, name="home-counts"),
    path("boards/<uuid:board_id>/archive", home.archive, name="board-archive"),
    path("boards/<uuid:board_id>/restore", home.restore, name="board-restore"),
    path("choose-workspace", home.choose_workspace, name="choose-workspace"),
    path("sign-in", session.sign_in, name="sign-in"),
    path("sign-out", session.sign_out, name="sign-out"),
    path("first-run", session.first_run, name="first-run"),
    path("welcome/<uuid:user_id>/<slug:token>", session.welcome, name="welcome"),
    path("profile", people.profile, name="profile"),
    path("profile/password", people.password, name="password"),
    path("profile/tokens", people.create_token, name="my-tokens"),
    path(
        "profile/tokens/<uuid:token_id>/revoke",
        people.revoke_token,
        name="my-token-revoke",
    ),
    path("workspace", workspaces.workspace, name="workspace"),
    path("workspaces", workspaces.create, name="workspace-create"),
    path("members", people.members, name="members"),
    path("members/add", workspaces.add_person, name="member-add"),
    path("members/<uuid:member_id>", people.edit, name="member"),
    path("members/<uuid:member_id>/link", people.link, name="member-link"),
    path("boards/<uuid:board_id>/members", people.board_members, name="board-members"),
    path(
        "boards/<uuid:board_id>/members/everybody",
        people.board_default,
        name="board-default",
    ),
    path("agents", agents.agents, name="agents"),
    path(_agent, agents.agent, name="agent"),
    path(f"{_agent}/edit", agents.edit, name="agent-edit"),
    path(f"{_agent}/stop", agents.stop, name="agent-stop"),
    path(f"{_agent}/tokens", agents.create_token, name="agent-tokens"),
    path(
        f"{_agent}/tokens/<uuid:token_id>/revoke",
        agents.revoke_token,
        name="agent-token-revoke",
    ),
]
