"""A card: a job or a note on a wall."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now

from accounts.ids import new_id
from accounts.models import Actor, Workspace
from accounts.skills import MAX_SKILL_CHARACTERS
from boards.models.boards import Board, Column
from boards.models.card_indexes import CARD_INDEXES
from boards.models.conditions import OPEN, PRESENT, READY
from boards.models.functions import ClockTimestamp, NextPosition
from boards.values import MAX_DOING_CHARACTERS

DOING_IS_FRESH = timedelta(minutes=10)


class CardQuerySet(models.QuerySet["Card"]):
    def present(self) -> "CardQuerySet":
        return self.filter(PRESENT)

    def in_order(self) -> "CardQuerySet":
        """Claim order = shown order (design section 3): 1 is the most important."""
        return self.order_by("priority", "position", "id")

    def locked(self) -> "CardQuerySet":
        """For a change: after this wait nobody else changes them. Several cards are
        locked in the order of their ids, and after their column."""
        return self.select_for_update(of=("self",), no_key=True)

    def claimable(self, column_id: UUID) -> "CardQuerySet":
        """Ready for anyone, next first. Stands on the index `card_claimable`."""
        return (
            self.filter(READY, column_id=column_id, assignee=None, skills=[])
            .in_order()
            .select_for_update(skip_locked=True, no_key=True)
        )

    def claimable_by(self, column_id: UUID, actor_id: UUID) -> "CardQuerySet":
        """Ready and kept for one actor. Stands on `card_claimable_by`."""
        return (
            self.filter(READY, column_id=column_id, assignee_id=actor_id, skills=[])
            .in_order()
            .select_for_update(skip_locked=True, no_key=True)
        )

    def asking_for_skills(self, column_id: UUID) -> "CardQuerySet":
        """Ready for anyone with the right skills. Stands on `card_claimable_skilled`."""
        return self.filter(READY, column_id=column_id, assignee=None).exclude(skills=[])

    def kept_for(self, column_id: UUID, actor_id: UUID) -> "CardQuerySet":
        """Ready and kept for one actor, whatever it asks for. On `card_claimable_by`."""
        return self.filter(READY, column_id=column_id, assignee_id=actor_id)

    def claimable_with(
        self,
        column_id: UUID,
        actor_id: UUID,
        *,
        skills: Sequence[str],
        labels: Sequence[str],
        asking: Sequence[str],
    ) -> "CardQuerySet":
        """Ready for one actor who has these `skills`, or anyone; with all these `labels`
        and asking for all skills of `asking`. Walks along the open cards in order
        (`card_live`), past those that don't match."""
        return (
            self.present()
            .filter(READY, column_id=column_id)
            .filter(Q(assignee=None) | Q(assignee_id=actor_id))
            .filter(skills__contained_by=skills, skills__contains=asking)
            .filter(labels__contains=labels)
            .in_order()
            .select_for_update(skip_locked=True, no_key=True)
        )

    def due(self, column_id: UUID) -> "CardQuerySet":
        """Waiting cards whose time has come."""
        return self.filter(
            OPEN, column_id=column_id, available_at__lte=ClockTimestamp()
        )

    def unjudged(self, column_id: UUID) -> "CardQuerySet":
        """Open cards not yet held against the column's input schema."""
        return self.filter(OPEN, column_id=column_id, fits=None)


class Card(models.Model):
    """A job when its column is a queue, a card on a wall otherwise.

    `state` is set to and from `claimed` by lease verbs only; the other apps refuse to
    move or archive a claimed card. Where the card has a state, exactly one reason can
    keep an open card from being claimed: `available_at` (waiting), `fits` (not judged
    yet, or judged and refused: `misfit` says why), or another `assignee`.
    """

    class State(models.TextChoices):
        NONE = "", "not in a queue"
        OPEN = "open"
        CLAIMED = "claimed"
        DONE = "done"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    board = models.ForeignKey(
        Board, models.CASCADE, related_name="cards", db_index=False
    )
    column = models.ForeignKey(
        Column, models.PROTECT, related_name="cards", db_index=False
    )
    number = models.BigIntegerField(editable=False)
    title = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    priority = models.SmallIntegerField(default=3)
    position = models.BigIntegerField(db_default=NextPosition())
    labels = ArrayField(models.CharField(max_length=50), default=list, blank=True)
    assignee = models.ForeignKey(
        Actor,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    due = models.DateTimeField(null=True, blank=True)
    # The card that this one is a part of, on any board of the workspace.
    parent = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="children",
        db_index=False,
    )
    # Agents are offered it only if they have all of these.
    skills = ArrayField(
        models.CharField(max_length=MAX_SKILL_CHARACTERS),
        default=list,
        db_default=[],
        blank=True,
    )
    properties = models.JSONField(default=dict, blank=True)
    payload = models.JSONField(null=True, blank=True)
    output = models.JSONField(null=True, blank=True)

    state = models.CharField(
        max_length=7, choices=State, default=State.NONE, blank=True
    )
    available_at = models.DateTimeField(null=True, blank=True)
    fits = models.BooleanField(null=True, default=True)
    misfit = models.JSONField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    # When somebody called it off: it failed for no fault of its own.
    cancelled_at = models.DateTimeField(null=True, editable=False)
    # How often its attempts ended in waiting for a quota, and since when.
    waits = models.SmallIntegerField(default=0, db_default=0, editable=False)
    waits_since = models.DateTimeField(null=True, editable=False)
    # What somebody without a lease says to be doing with it. It counts at `doing_version`
    # only, so that every change of the card ends it without a thought of it.
    doing = models.CharField(
        max_length=MAX_DOING_CHARACTERS,
        default="",
        db_default="",
        blank=True,
        editable=False,
    )
    doing_at = models.DateTimeField(null=True, editable=False)
    doing_by = models.ForeignKey(
        Actor,
        models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
        editable=False,
    )
    doing_version = models.BigIntegerField(null=True, editable=False)
    # The lease in force and its holder, repeated here for the board and the guards.
    # Without constraints: leases are a layer above, and a check of the holder's row on
    # every claim would make twenty workers of one seat queue for it.
    lease_id = models.UUIDField(null=True, blank=True, editable=False)
    holder = models.ForeignKey(
        Actor,
        models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )

    version = models.BigIntegerField(default=1, editable=False)
    sequence = models.BigIntegerField(default=0, editable=False)
    created_by = models.ForeignKey(
        Actor,
        models.PROTECT,
        null=True,
        related_name="+",
        editable=False,
        db_index=False,
    )
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    updated_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    objects = CardQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                F("workspace"), F("number"), name="card_key_once_per_workspace"
            ),
            models.CheckConstraint(
                condition=Q(priority__gte=1, priority__lte=5),
                name="card_priority_1_to_5",
            ),
            # PostgreSQL reads every one of these anew for each statement that writes a
            # card, so what belongs together is one, and counters that only rise have
            # none of their own.
            models.CheckConstraint(
                condition=Q(state="claimed", lease_id__isnull=False, archived_at=None)
                | Q(
                    state__in=["", "open", "done", "failed"], lease_id=None, holder=None
                ),
                name="card_state_is_whole",
            ),
            models.CheckConstraint(
                condition=Q(fits=None) | Q(fits=True) | Q(misfit__isnull=False),
                name="card_misfit_says_why",
            ),
        ]
        indexes = CARD_INDEXES

    def __str__(self) -> str:
        return self.title

    def is_claimed(self) -> bool:
        return self.state == self.State.CLAIMED

    def activity(self) -> str:
        """What somebody says to be doing with it, without a lease; nothing after ten
        minutes, and after any change of the card."""
        if self.doing_version != self.version or self.doing_at is None:
            return ""
        return self.doing if now() - self.doing_at < DOING_IS_FRESH else ""

    def enter(self, column: Column) -> None:
        """Take the state that a card has on arrival in `column` (by hand, by creation
        or by restoring): open with fresh attempts in a queue; elsewhere a done or failed
        card stays that (it can be requeued) and every other one is no job."""
        self.column = column
        if column.is_queue:
            self.state, self.attempts = self.State.OPEN, 0
            self.cancelled_at, self.waits, self.waits_since = None, 0, None
        elif self.state not in (self.State.DONE, self.State.FAILED):
            self.state = self.State.NONE
        self.judge_again(column)

    def judge_again(self, column: Column) -> None:
        """Forget what the input schema said, since the card or the schema changed."""
        self.fits, self.misfit = (None if column.checks_input else True), None
