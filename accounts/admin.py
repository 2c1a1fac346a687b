"""The admin's pages of workspaces, people, agent seats and worker tokens."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.options import ActionLocation
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group
from django.http import HttpRequest

from accounts.admin_bases import (
    ActingAdmin,
    ReadOnlyAdmin,
    Rows,
    ServerAdmin,
    VerbAdmin,
    VerbForm,
    caller_in,
)
from accounts.callers import Caller
from accounts.credentials import caller_of_user
from accounts.models import Actor, User, WorkerToken, Workspace
from accounts.roles import WorkspaceRole
from accounts.verbs.agents import create_agent, edit_agent, revoke_token
from accounts.verbs.logins import set_login_active
from accounts.verbs.people import edit_member, only_owners_make_owners
from accounts.verbs.profile import revoke_my_token
from accounts.verbs.workspaces import add_person, create_workspace, edit_workspace

if TYPE_CHECKING:
    UserAdminBase = DjangoUserAdmin[User]
    UserForm = UserChangeForm[User]
else:
    UserAdminBase, UserForm = DjangoUserAdmin, UserChangeForm


@admin.register(Workspace)
class WorkspaceAdmin(VerbAdmin):
    """Whoever makes one owns it."""

    list_display = ("name", "slug", "key", "last_card_number", "created_at")
    search_fields = ("name", "slug", "key")
    ordering = ("name",)
    fields = ("name", "key")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        kept = ("slug", "last_card_number", "created_at")
        return (*self.fields, *kept) if obj else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The slug is in addresses, the key in what people have written."""
        return ("key", "slug", "last_card_number", "created_at") if obj else ()

    def check_may_change(self, request: HttpRequest, obj: Any) -> None:
        caller_in(request, obj.pk).require_admin()

    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        if change:
            caller = caller_in(request, obj.pk)
            edit_workspace(caller, workspace_id=obj.pk, name=obj.name)
        else:
            caller = caller_of_user(request.user)
            obj.pk = create_workspace(caller, name=obj.name, key=obj.key)
        obj.refresh_from_db()


class LoginForm(VerbForm, UserForm):
    """Django's, which also says why a login can't be ended."""


@admin.register(User)
class UserAdmin(ServerAdmin, VerbAdmin, UserAdminBase):
    """People who leave become inactive, by the verb. A password or a flag set here
    opens every workspace of the person, so it takes whoever runs the server."""

    form = LoginForm
    list_display = ("username", "handle", "email", "is_active", "is_staff")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("username", "handle", "email", "first_name", "last_name")
    date_hierarchy = "date_joined"
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "handle", "password")}),
        *(DjangoUserAdmin.fieldsets or ())[1:],
    )
    add_fieldsets = (
        (
            None,
            {
                "classes": ("wide",),
                "fields": (
                    "username",
                    "handle",
                    "usable_password",
                    "password1",
                    "password2",
                ),
            },
        ),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.readonly_fields, "handle") if obj else self.readonly_fields

    def check_may_change(self, request: HttpRequest, obj: Any) -> None:
        """Superusers, every row."""

    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        if change and "is_active" in form.changed_data:
            assert isinstance(request.user, User)
            set_login_active(by=request.user, user_id=obj.pk, active=obj.is_active)
        obj.save()


admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(ServerAdmin, DjangoGroupAdmin):
    """Django's: which pages of the admin people see. Nothing refers to one."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser


class ActorForm(VerbForm):
    """A person's handle and name are those of their login."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:
            for name in ("handle", "name"):
                self.fields[name].required = False
                self.fields[name].help_text = "agents only"

    def clean(self) -> Any:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("kind") == Actor.Kind.PERSON:
            for name in ("handle", "name"):
                if cleaned.get(name):
                    self.add_error(name, "A person has that of their login.")
        return cleaned


@admin.register(Actor)
class ActorAdmin(ActingAdmin, VerbAdmin):
    """People's memberships and agent seats. They're disabled, never deleted."""

    form = ActorForm
    list_display = ("handle", "kind", "name", "role", "workspace", "disabled_at")
    list_filter = ("kind", "role", ("disabled_at", admin.EmptyFieldListFilter))
    list_select_related = ("workspace",)
    search_fields = ("handle", "name", "workspace__slug", "user__username")
    ordering = ("workspace_id", "handle")
    date_hierarchy = "created_at"
    raw_id_fields = ("workspace", "user")
    readonly_fields = ("disabled_at", "created_at")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    *("workspace", "kind", "user", "role", "handle", "name"),
                    *("disabled_at", "created_at"),
                ),
                "description": (
                    "A person has a user and a role, an agent seat has neither."
                    " An agent's tokens are made over REST, where they're shown once."
                ),
            },
        ),
    )
    actions = ("disable", "enable")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return self.readonly_fields
        kept = "role" if obj.kind == Actor.Kind.AGENT else "name"
        return (*self.readonly_fields, "workspace", "kind", "handle", "user", kept)

    def check_may_change(self, request: HttpRequest, obj: Any) -> None:
        caller = caller_in(request, obj.workspace_id)
        caller.require_admin()
        # As it's stored: a form has written its own wish into the object.
        stored = Actor.objects.get(pk=obj.pk).role
        if stored is not None:
            only_owners_make_owners(caller, WorkspaceRole(stored))

    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        caller = caller_in(request, obj.workspace_id)
        if change:
            _edit(caller, obj)
        else:
            obj.pk = _add(caller, obj)
        obj.refresh_from_db()

    @admin.action(description="Disable selected actors", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: Rows) -> None:
        self.act(request, queryset, _disable, "disabled")

    @admin.action(description="Enable selected actors", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: Rows) -> None:
        self.act(request, queryset, _enable, "enabled")


def _add(caller: Caller, actor: Actor) -> Any:
    if actor.kind == Actor.Kind.AGENT:
        return create_agent(caller, handle=actor.handle, name=actor.name)
    assert actor.user is not None
    assert actor.role is not None
    return add_person(
        caller, username=actor.user.username, role=WorkspaceRole(actor.role)
    )


def _edit(caller: Caller, actor: Actor) -> None:
    if actor.kind == Actor.Kind.AGENT:
        edit_agent(caller, agent_id=actor.pk, name=actor.name)
    else:
        assert actor.role is not None
        edit_member(caller, member_id=actor.pk, role=WorkspaceRole(actor.role))


def _disable(caller: Caller, actor: Actor) -> None:
    _set_disabled(caller, actor, True)


def _enable(caller: Caller, actor: Actor) -> None:
    _set_disabled(caller, actor, False)


def _set_disabled(caller: Caller, actor: Actor, disabled: bool) -> None:
    if actor.kind == Actor.Kind.AGENT:
        edit_agent(caller, agent_id=actor.pk, disabled=disabled)
    else:
        edit_member(caller, member_id=actor.pk, disabled=disabled)


@admin.register(WorkerToken)
class WorkerTokenAdmin(ReadOnlyAdmin, ActingAdmin):
    """Tokens are made over REST, where their secret is shown once."""

    list_display = (
        *("name", "hint", "actor", "workspace", "scopes"),
        *("last_used_at", "expires_at", "revoked_at"),
    )
    list_filter = (
        ("revoked_at", admin.EmptyFieldListFilter),
        ("last_used_at", admin.EmptyFieldListFilter),
        ("expires_at", admin.EmptyFieldListFilter),
    )
    list_select_related = ("actor", "workspace")
    search_fields = ("name", "hint", "actor__handle", "workspace__slug")
    ordering = ("-created_at",)
    date_hierarchy = "created_at"
    fields = (
        *("name", "hint", "actor", "workspace", "scopes", "created_by"),
        *("created_at", "last_used_at", "expires_at", "revoked_at"),
    )
    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_workertoken")

    @admin.action(
        description="Revoke selected worker tokens",
        permissions=["revoke"],
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def revoke(self, request: HttpRequest, queryset: Rows) -> None:
        self.act(request, queryset, _revoke, "revoked")


def _revoke(caller: Caller, token: WorkerToken) -> None:
    if token.actor_id == caller.actor_id:
        revoke_my_token(caller, token_id=token.pk)
    else:
        revoke_token(caller, agent_id=token.actor_id, token_id=token.pk)
