"""What has rules is only looked at in the admin, or changed by the verb that has them."""

import ast
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.test import RequestFactory

from accounts.admin_bases import ReadOnlyAdmin, VerbAdmin
from accounts.models import Actor, User
from tests.admin.pages import (
    MODELS,
    NAMES,
    change_page,
    list_page,
    make_rows,
    page,
    sign_in,
    user_of,
)
from tests.builders import a_person, a_workspace

# What Django writes by itself, and why nothing is walked around by it.
WITHOUT_RULES = {
    Group: "Which pages of the admin people see; superusers only, no verb knows them."
}
# The only lines in the admin's own code that may write a row.
WRITES_ROWS = {
    "UserAdmin.save_model": "Names and flags of a login have no verb; superusers only."
}
WRITING = (
    *("save", "create", "update", "delete", "get_or_create", "update_or_create"),
    *("bulk_create", "bulk_update", "save_m2m", "set_password", "execute"),
    *("asave", "acreate", "aupdate", "adelete"),
)
every_page = pytest.mark.parametrize("model", MODELS, ids=NAMES)


@pytest.fixture
def request_of_superuser(world):
    sent = RequestFactory().get("/admin/")
    user = user_of(world.owner)
    User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
    sent.user = User.objects.get(pk=user.pk)
    return sent


def kind_of(model):
    return admin.site._registry[model]


@every_page
def test_every_page_is_to_look_at_or_calls_a_verb(model):
    own = type(kind_of(model))
    assert issubclass(own, (ReadOnlyAdmin, VerbAdmin)) or model in WITHOUT_RULES
    if issubclass(own, VerbAdmin):
        assert own.check_may_change is not VerbAdmin.check_may_change
        assert own.save_model is not VerbAdmin.save_model
        assert own.save_model is not admin.ModelAdmin.save_model
    if model not in WITHOUT_RULES:
        # By these two Django writes rows past `save_model`.
        assert own.save_formset is admin.ModelAdmin.save_formset
        assert own.list_editable == ()


@every_page
def test_rows_shown_on_anothers_page_are_only_to_look_at(
    model, world, request_of_superuser
):
    make_rows(world, 1)
    row = model.objects.first()
    for inline in kind_of(model).get_inline_instances(request_of_superuser, row):
        sent = request_of_superuser
        assert not inline.has_add_permission(sent, row)
        assert not inline.has_change_permission(sent, row)
        assert not inline.has_delete_permission(sent, row)


@every_page
def test_what_stands_for_history_is_not_deleted(model, world, request_of_superuser):
    make_rows(world, 1)
    own, row = kind_of(model), model.objects.first()
    may = own.has_delete_permission(request_of_superuser, row)
    assert may is (model in WITHOUT_RULES)
    assert ("delete_selected" in own.get_actions(request_of_superuser)) is may


def code_of_the_admin():
    """The project's own modules that the pages' classes come from."""
    names = {base.__module__ for model in MODELS for base in type(kind_of(model)).mro()}
    ours = tuple(f"{one.label}." for one in apps.get_app_configs() if is_ours(one))
    return sorted(name for name in names if name.startswith(ours))


def is_ours(config):
    return Path(config.path).parent == Path(__file__).parents[2]


def written_in(module):
    """The functions, by class, in which something is called that writes rows."""
    tree = ast.parse(Path(sys.modules[module].__file__).read_text())
    for outer in tree.body:
        inner = outer.body if isinstance(outer, ast.ClassDef) else [outer]
        for one in inner:
            calls = [node for node in ast.walk(one) if isinstance(node, ast.Call)]
            called = {getattr(call.func, "attr", "") for call in calls}
            if called & set(WRITING):
                name = getattr(one, "name", "")
                is_class = isinstance(outer, ast.ClassDef)
                yield f"{outer.name}.{name}" if is_class else name


def test_the_admins_own_code_writes_no_row():
    modules = code_of_the_admin()
    assert {"accounts.admin", "accounts.admin_bases", "boards.admin"} <= set(modules)
    found = [name for module in modules for name in written_in(module)]
    assert found == list(WRITES_ROWS)


def everything():
    """Every row of the project's tables, but who signed in when."""
    found = {}
    for config in filter(is_ours, apps.get_app_configs()):
        for model in config.get_models():
            rows = model.objects.order_by("pk").values()
            found[model._meta.label] = [
                {name: row[name] for name in row if name != "last_login"}
                for row in rows
            ]
    return found


def test_who_is_no_member_changes_nothing_by_any_page_or_action(world, client):
    make_rows(world, 2)
    stranger = a_person(a_workspace())
    sign_in(client, user_of(stranger), is_superuser=True)
    request = RequestFactory().get("/admin/")
    request.user = user_of(stranger)
    of_the_server = (User, *WITHOUT_RULES)
    before = everything()
    for model in set(MODELS) - set(of_the_server):
        rows = list(model.objects.exclude(**theirs(model, stranger)))
        assert rows
        for row in rows:
            answer = client.post(change_page(row), {"name": "x", "role": "3"})
            assert answer.status_code == 403, row
        for action in kind_of(model).get_actions(request):
            chosen = [str(row.pk) for row in rows]
            sent = {"action": action, "_selected_action": chosen}
            answer = client.post(list_page(model), sent, follow=True)
            assert "member of no workspace" in answer.content.decode(), action
    assert everything() == before


def theirs(model, person):
    """What the stranger may change: their own workspace, and themselves."""
    label = model._meta.label
    if label == "accounts.Workspace":
        return {"pk": person.workspace_id}
    if model is Actor:
        return {"workspace_id": person.workspace_id}
    return {"pk": None}


@pytest.mark.parametrize("model", [User, Group])
def test_logins_and_groups_are_changed_by_superusers_only(model, world, client):
    """Whoever sets a password or a flag is anybody, in every workspace."""
    make_rows(world, 1)
    user = user_of(world.owner)
    sign_in(client, user)
    grant_all(user)
    row = model.objects.first()
    before = everything()
    assert client.get(change_page(row)).status_code == 200
    for url in (change_page(row), page(model, "add"), page(model, "delete", row.pk)):
        answer = client.post(url, {"name": "x", "is_superuser": "on", "post": "yes"})
        assert answer.status_code == 403, url
    password = {"password1": "tulip-harbour-9", "password2": "tulip-harbour-9"}
    url = f"/admin/accounts/user/{user.pk}/password/"
    assert client.post(url, password).status_code == 403
    assert everything() == before


def grant_all(user):
    user.user_permissions.set(Permission.objects.all())
