"""Who acts: workspaces, people, agent seats, worker tokens."""

from uuid import UUID

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q

from accounts.ids import new_id
from accounts.roles import WORKSPACE_ROLES, WorkspaceRole
from accounts.skills import MAX_SKILL_CHARACTERS

handle_is_plain = RegexValidator(
    r"\A[a-z0-9][a-z0-9-]{0,38}\Z",
    "A handle has 1 to 39 small letters, digits and hyphens, a letter or digit first.",
)


class Workspace(models.Model):
    """The tenant. Every other row belongs to exactly one, directly or by its board."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100)
    slug = models.SlugField(unique=True)
    # Human card keys: NOV-12. They stay when a card moves between boards.
    key = models.CharField(max_length=8, default="NOV")
    last_card_number = models.PositiveBigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class User(AbstractUser):
    """A person's login. What they are in a workspace is an `Actor`."""

    class Theme(models.TextChoices):
        SYSTEM = "system"
        LIGHT = "light"
        DARK = "dark"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    handle = models.CharField(
        max_length=39, unique=True, validators=[handle_is_plain], help_text="@handle"
    )

    theme = models.CharField(max_length=6, choices=Theme, default=Theme.SYSTEM)

    REQUIRED_FIELDS = ["email", "handle"]


class ActorQuerySet(models.QuerySet["Actor"]):
    def in_workspace(self, workspace_id: UUID) -> "ActorQuerySet":
        return self.filter(workspace_id=workspace_id)

    def agents(self) -> "ActorQuerySet":
        return self.filter(kind=Actor.Kind.AGENT)

    def owners(self) -> "ActorQuerySet":
        return self.filter(role=WorkspaceRole.OWNER)

    def enabled(self) -> "ActorQuerySet":
        return self.filter(disabled_at=None)


class Actor(models.Model):
    """Who did it: one person's membership in a workspace, or one agent seat.

    Both share this table, so that a handle is unique in its workspace and a holder, an
    assignee or an author is one reference. Actors are disabled, never deleted: history
    keeps its names.
    """

    class Kind(models.TextChoices):
        PERSON = "person"
        AGENT = "agent"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="actors")
    kind = models.CharField(max_length=6, choices=Kind)
    handle = models.CharField(max_length=39, validators=[handle_is_plain])
    name = models.CharField(max_length=100)
    user = models.ForeignKey(
        User, models.PROTECT, null=True, blank=True, related_name="actors"
    )
    role = models.PositiveSmallIntegerField(
        choices=WORKSPACE_ROLES, null=True, blank=True, help_text="people only"
    )
    # What an agent's seat can do, and how many cards it may hold at once (null: any).
    skills = ArrayField(
        models.CharField(max_length=MAX_SKILL_CHARACTERS),
        default=list,
        db_default=[],
        blank=True,
    )
    max_leases = models.PositiveIntegerField(null=True, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ActorQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                F("workspace"), F("handle"), name="actor_handle_once_per_workspace"
            ),
            models.UniqueConstraint(
                F("workspace"), F("user"), name="actor_user_once_per_workspace"
            ),
            models.CheckConstraint(
                condition=Q(kind="person", user__isnull=False, role__isnull=False)
                | Q(kind="agent", user__isnull=True, role__isnull=True),
                name="actor_is_person_or_agent",
            ),
        ]

    def __str__(self) -> str:
        return f"@{self.handle}"


class WorkerToken(models.Model):
    """A credential. One seat has many: twenty workers acting as one drafter."""

    class Scope(models.TextChoices):
        READ = "read", "see boards, cards, leases and events"
        WORK = "work", "claim, renew, complete, fail, release"
        WRITE = "write", "create and change cards, comment"
        MANAGE = "manage", "boards, columns, contracts, agents, tokens"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    actor = models.ForeignKey(Actor, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    hint = models.CharField(max_length=12, editable=False, help_text="nvma_…x4Qz")
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope))
    # What this worker can do beyond what its seat can.
    skills = ArrayField(
        models.CharField(max_length=MAX_SKILL_CHARACTERS),
        default=list,
        db_default=[],
        blank=True,
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(
        Actor, models.PROTECT, null=True, related_name="+", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.hint})"


class RememberedCall(models.Model):
    """An Idempotency-Key that made something: what it made, for 24 hours.

    References only, never replies: a claim's receipt is derived again on replay, so no
    secret lies here. The row is written in the transaction of the call.
    """

    KEPT_SECONDS = 24 * 3600

    id = models.BigAutoField(primary_key=True)
    credential = models.UUIDField()
    operation = models.CharField(max_length=60)
    key = models.CharField(max_length=255)
    fingerprint = models.BinaryField(max_length=32)
    made = ArrayField(models.UUIDField(), default=list)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["credential", "operation", "key"], name="remembered_call_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"
