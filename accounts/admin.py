"""The admin's pages of workspaces, people, agent seats and worker tokens."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.options import ActionLocation
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.db.models.functions import Now
from django.http import HttpRequest

from accounts.admin_bases import ActingAdmin, KeptAdmin, ReadOnlyAdmin, Rows
from accounts.callers import Caller
from accounts.models import Actor, User, WorkerToken, Workspace
from accounts.verbs.agents import edit_agent, revoke_token

if TYPE_CHECKING:
    UserAdminBase = DjangoUserAdmin[User]
else:
    UserAdminBase = DjangoUserAdmin


@admin.register(Workspace)
class WorkspaceAdmin(KeptAdmin):
    list_display = ("name", "slug", "key", "last_card_number", "created_at")
    search_fields = ("name", "slug", "key")
    ordering = ("name",)
    fields = ("name", "slug", "key", "last_card_number", "created_at")
    prepopulated_fields = {"slug": ("name",)}
    readonly_fields = ("last_card_number", "created_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The slug is in addresses, the key in what people have written."""
        return (*self.readonly_fields, "slug", "key") if obj else self.readonly_fields

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return {} if obj else self.prepopulated_fields


@admin.register(User)
class UserAdmin(KeptAdmin, UserAdminBase):
    """People who leave become inactive."""

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


@admin.register(Actor)
class ActorAdmin(ActingAdmin):
    """People's memberships and agent seats. They're disabled, never deleted."""

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
                    *("workspace", "kind", "handle", "name", "user", "role"),
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
        role = ("role",) if obj.kind == Actor.Kind.AGENT else ()
        fixed = ("workspace", "kind", "handle", "user", *role)
        return (*self.readonly_fields, *fixed)

    @admin.action(description="Disable selected actors", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: Rows) -> None:
        self.act(request, queryset, _disable, "disabled")

    @admin.action(description="Enable selected actors", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: Rows) -> None:
        self.act(request, queryset, _enable, "enabled")


def _disable(caller: Caller, actor: Actor) -> None:
    _set_disabled(caller, actor, True)


def _enable(caller: Caller, actor: Actor) -> None:
    _set_disabled(caller, actor, False)


def _set_disabled(caller: Caller, actor: Actor, disabled: bool) -> None:
    if actor.kind == Actor.Kind.AGENT:
        edit_agent(caller, agent_id=actor.pk, disabled=disabled)
        return
    caller.require_admin()
    person = Actor.objects.filter(pk=actor.pk, disabled_at__isnull=disabled)
    person.update(disabled_at=Now() if disabled else None)


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
    revoke_token(caller, agent_id=token.actor_id, token_id=token.pk)
