"""Boards, columns, cards, and what happened to them."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import BigIntegerField, F, Func, Q
from django.utils.timezone import now

from accounts.ids import new_id
from accounts.models import Actor, Workspace
from accounts.roles import BOARD_ROLES, BoardRole
from accounts.skills import MAX_SKILL_CHARACTERS
from boards import nudges
from boards.ordering import GAP
from boards.values import MAX_DOING_CHARACTERS

DOING_IS_FRESH = timedelta(minutes=10)


class ClockTimestamp(Func):
    """PostgreSQL's clock at this very moment: `Now()` is the statement's start, which
    is too old after a wait for a lock."""

    function = "clock_timestamp"
    output_field = models.DateTimeField()


class NextPosition(Func):
    """The end of every column: above all positions handed out before."""

    template = f"(nextval('boards_card_position') * {GAP})"
    output_field = BigIntegerField()


class Transaction(Func):
    """The id of the current transaction, which the feed's cursor is made of."""

    template = "(pg_current_xact_id()::text::bigint)"
    output_field = BigIntegerField()


class Snapshot(Func):
    """The oldest transaction still running: everything below has ended."""

    template = "(pg_snapshot_xmin(pg_current_snapshot())::text::bigint)"
    output_field = BigIntegerField()


class Board(models.Model):
    """A wall of columns. `default_role` is what every member of the workspace may do
    here without being named (null: nothing, the board is private)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="boards")
    name = models.CharField(max_length=100)
    description = models.TextField(blank=True)
    default_role = models.PositiveSmallIntegerField(
        choices=BOARD_ROLES, default=BoardRole.EDITOR, null=True, blank=True
    )
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class BoardMember(models.Model):
    """A role named on one board; it goes before the board's default."""

    id = models.BigAutoField(primary_key=True)
    board = models.ForeignKey(Board, models.CASCADE, related_name="members")
    actor = models.ForeignKey(Actor, models.CASCADE, related_name="+")
    role = models.PositiveSmallIntegerField(choices=BOARD_ROLES)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["board", "actor"], name="board_member_once")
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.get_role_display()}"


class Column(models.Model):
    """An ordered list of cards. `is_queue` and `checks_input` mirror the contract
    (kept by `leases.verbs.set_contract`), so that a card knows its state on arrival
    without knowing leases."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    board = models.ForeignKey(Board, models.CASCADE, related_name="columns")
    name = models.CharField(max_length=100)
    position = models.BigIntegerField(db_default=NextPosition())
    color = models.CharField(max_length=20, blank=True)
    wip_limit = models.PositiveIntegerField(null=True, blank=True)
    is_queue = models.BooleanField(default=False, editable=False)
    checks_input = models.BooleanField(default=False, editable=False)
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["board", "position"], name="column_order")]

    def __str__(self) -> str:
        return self.name


# Where a card of a queue may be offered, and where at once (see `Card`).
OPEN = Q(state="open", archived_at=None)
# What a column shows. The number is always above 0: asking for it lets pages use the
# index `card_order`, and keeps the planner from ever taking that one for a claim.
PRESENT = Q(archived_at=None, number__gt=0)
READY = OPEN & Q(available_at=None, fits=True)
# Dead letters: failed for good and still there. What was called off isn't one.
DEAD = PRESENT & Q(state="failed", cancelled_at=None)


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
        indexes = [
            models.Index(
                fields=["column", "priority", "position", "id"],
                name="card_order",
                condition=PRESENT,
            ),
            models.Index(
                fields=["assignee", "state", "priority", "position", "id"],
                name="card_assigned",
                condition=PRESENT & Q(assignee__isnull=False),
            ),
            # Claimable = one partial index in claim order over exactly the claimable
            # set: waiting, leased, finished, refused or otherwise assigned cards never
            # stand in the scanned range (measured: 0.95 of the floor against 0.25).
            models.Index(
                fields=["column", "priority", "position", "id"],
                name="card_claimable",
                condition=READY & Q(assignee=None, skills=[]),
            ),
            # Those that ask for skills stand apart: a thousand of them are no detour
            # for a worker who has none.
            models.Index(
                fields=["column", "priority", "position", "id"],
                name="card_claimable_skilled",
                condition=READY & Q(assignee=None) & ~Q(skills=[]),
            ),
            models.Index(
                fields=["column", "assignee", "priority", "position", "id"],
                name="card_claimable_by",
                condition=READY & Q(assignee__isnull=False),
            ),
            # Lists of tasks over many columns: what is to be done or being done in
            # claim order, what has ended latest first. Asking for the number keeps
            # them out of claims (see PRESENT).
            models.Index(
                fields=["column", "state", "priority", "position", "id"],
                name="card_live",
                condition=PRESENT & Q(state__in=["open", "claimed"]),
            ),
            models.Index(
                fields=["column", "state", "-updated_at", "-id"],
                name="card_ended",
                condition=PRESENT & Q(state__in=["done", "failed"]),
            ),
            # Dead letters of many boards, however many cards there are.
            models.Index(fields=["board"], name="card_dead", condition=DEAD),
            # Who says to be at it, for the pages that are open.
            models.Index(
                fields=["board", "doing_at"],
                name="card_doing",
                condition=Q(doing_at__isnull=False),
            ),
            models.Index(
                fields=["parent", "id"],
                name="card_children",
                condition=Q(parent__isnull=False),
            ),
            models.Index(
                fields=["column", "available_at"],
                name="card_waiting",
                condition=OPEN & Q(available_at__isnull=False),
            ),
            models.Index(
                fields=["column", "priority", "position", "id"],
                name="card_unjudged",
                condition=OPEN & Q(fits=None),
            ),
            # What needs somebody: what doesn't fit, and what was tried before.
            models.Index(
                fields=["column", "id"],
                name="card_misfit",
                condition=OPEN & Q(fits=False),
            ),
            models.Index(
                fields=["column", "id"],
                name="card_retried",
                condition=PRESENT & Q(state__in=["open", "claimed"], attempts__gte=2),
            ),
        ]

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


class Comment(models.Model):
    """A remark on a card, by a person or an agent. Markdown."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    card = models.ForeignKey(Card, models.CASCADE, related_name="comments")
    author = models.ForeignKey(Actor, models.PROTECT, related_name="+")
    text = models.TextField()
    edited_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["card", "id"], name="comment_order")]

    def __str__(self) -> str:
        return self.text[:50]


class EventQuerySet(models.QuerySet["Event"]):
    def bulk_create(
        self, objs: Iterable["Event"], *arguments: Any, **options: Any
    ) -> list["Event"]:
        made = super().bulk_create(objs, *arguments, **options)
        nudges.nudge(*map(nudges.of, made))
        return made


# What every job brings about, whatever becomes of it.
DAILY_EVENTS = (
    "card.created",
    "card.lease.claimed",
    "card.lease.completed",
    "task.done",
)


class Event(models.Model):
    """What happened, written in the transaction that did it: activity log, outbox and
    feed in one. Append-only; names of actors live on because actors are never deleted.

    `sequence` rises by one per card. `transaction` is the id of the writing
    transaction: the feed shows an event only when every earlier transaction has ended,
    so a cursor never passes one that commits late.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    transaction = models.BigIntegerField(db_default=Transaction())
    type = models.CharField(max_length=40)
    actor = models.ForeignKey(
        Actor,
        models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    token_id = models.UUIDField(null=True)
    board_id = models.UUIDField(null=True)
    column_id = models.UUIDField(null=True)
    card_id = models.UUIDField(null=True)
    lease_id = models.UUIDField(null=True)
    sequence = models.BigIntegerField(null=True)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=ClockTimestamp())

    objects = EventQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["card_id", "sequence"], name="event_sequence_once_per_card"
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "transaction", "id"], name="event_feed"),
            # The activity of a board or somebody, and all that isn't each job's daily
            # bread: one type of that is dense enough to be met on the way.
            models.Index(fields=["board_id", "id"], name="event_of_board"),
            models.Index(fields=["actor", "id"], name="event_of_actor"),
            models.Index(
                fields=["workspace", "type", "id"],
                name="event_rare",
                condition=~Q(type__in=DAILY_EVENTS),
            ),
        ]

    def __str__(self) -> str:
        return self.type

    def save(self, *arguments: Any, **options: Any) -> None:
        """Whoever waits hears of it once it's committed."""
        super().save(*arguments, **options)
        nudges.nudge(nudges.of(self))
