"""A column as a durable queue: its contract, the leases on its cards, its slots."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.ids import new_id
from accounts.models import Actor, WorkerToken, Workspace
from boards.models import Board, Card, ClockTimestamp, Column
from boards.values import MAX_DOING_CHARACTERS
from leases.contract import DEFAULT_LEASE_SECONDS, DEFAULT_MAX_ATTEMPTS
from leases.folding import MAX_FOLD_CHARACTERS


class Contract(models.Model):
    """What makes a column a queue. A column without a row has the defaults, disabled.

    `paused` stops new claims and nothing else. `version` rises with every change, so
    that a judgement by an older schema can be told.
    """

    column = models.OneToOneField(
        Column, models.CASCADE, primary_key=True, related_name="contract"
    )
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    enabled = models.BooleanField(default=False)
    paused = models.BooleanField(default=False)
    pause_reason = models.CharField(max_length=200, blank=True)
    queue = models.SlugField(max_length=60)
    lease_ttl_seconds = models.PositiveIntegerField(
        default=DEFAULT_LEASE_SECONDS, null=True, blank=True
    )
    max_attempts = models.PositiveIntegerField(default=DEFAULT_MAX_ATTEMPTS)
    backoff_seconds = ArrayField(
        models.PositiveIntegerField(), default=list, blank=True
    )
    on_success_column = models.ForeignKey(
        Column, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    on_failure_column = models.ForeignKey(
        Column, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    concurrency_limit = models.PositiveIntegerField(null=True, blank=True)
    input_schema = models.JSONField(null=True, blank=True)
    output_schema = models.JSONField(null=True, blank=True)
    version = models.PositiveBigIntegerField(default=1, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "queue"], name="contract_queue_once_per_workspace"
            )
        ]

    def __str__(self) -> str:
        return self.queue


class Lease(models.Model):
    """One attempt at one card by one holder. It ends exactly once.

    The receipt isn't stored: it's derived from the id and `nonce` (`leases.tokens`).
    References without a constraint point at rows that are never deleted, and would
    otherwise make all claims of one seat or column lock the same row.
    """

    class State(models.TextChoices):
        ACTIVE = "active"
        COMPLETED = "completed"
        FAILED = "failed"
        EXPIRED = "expired"
        RELEASED = "released"
        REVOKED = "revoked"

    class Outcome(models.TextChoices):
        """What became of the card when the lease ended without a result."""

        NONE = "", "-"
        REQUEUED = "requeued"
        DEAD_LETTERED = "dead_lettered"
        CANCELLED = "cancelled"

    class Failure(models.TextChoices):
        """What kind of failure ended it. A wait beyond what is allowed is a retry."""

        NONE = "", "-"
        RETRY = "retry"
        WAIT_UNTIL = "wait_until"
        FATAL = "fatal"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    board = models.ForeignKey(
        Board, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    column = models.ForeignKey(
        Column, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    card = models.ForeignKey(Card, models.PROTECT, related_name="leases")
    holder = models.ForeignKey(
        Actor, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    token = models.ForeignKey(
        WorkerToken,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    state = models.CharField(max_length=9, choices=State, default=State.ACTIVE)
    attempt = models.IntegerField()
    nonce = models.BinaryField(max_length=16, editable=False)
    slot = models.IntegerField(null=True, editable=False)
    # The length asked for, the default of each renewal; null = it never lapses.
    seconds = models.IntegerField(null=True)
    acquired_at = models.DateTimeField(db_default=ClockTimestamp())
    expires_at = models.DateTimeField(null=True)
    renewals = models.IntegerField(default=0)
    renewed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(
        max_length=13, choices=Outcome, default=Outcome.NONE, blank=True
    )
    reason = models.TextField(blank=True, default="")
    note = models.TextField(blank=True, default="")
    output = models.JSONField(null=True)
    next_due = models.DateTimeField(null=True)
    failure = models.CharField(
        max_length=10, choices=Failure, default="", db_default="", blank=True
    )
    # One line of progress by the holder.
    doing = models.CharField(
        max_length=MAX_DOING_CHARACTERS, default="", db_default="", blank=True
    )
    doing_at = models.DateTimeField(null=True)
    # Somebody asked the holder to stop, and the holder has heard it.
    cancel_requested_at = models.DateTimeField(null=True)
    cancel_requested_by = models.ForeignKey(
        Actor,
        models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    cancel_reason = models.TextField(blank=True, default="", db_default="")
    cancel_told_at = models.DateTimeField(null=True)
    # The number in the card's history up to which the holder has heard of comments.
    heard = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["card"],
                condition=Q(state="active"),
                name="lease_one_active_per_card",
            ),
            # It's over or it isn't, and only without a result has it an outcome.
            models.CheckConstraint(
                condition=Q(state="active", ended_at=None, outcome="")
                | Q(state="completed", ended_at__isnull=False, outcome="")
                | Q(
                    state__in=["failed", "expired", "released", "revoked"],
                    ended_at__isnull=False,
                ),
                name="lease_state_is_whole",
            ),
        ]
        indexes = [
            models.Index(
                fields=["column", "expires_at"],
                name="lease_lapse",
                # As good as "active", and no other index serves a query for it.
                condition=Q(ended_at=None),
            ),
            models.Index(
                fields=["holder"], name="lease_held", condition=Q(state="active")
            ),
            models.Index(fields=["board", "id"], name="lease_history"),
            # The few among the many that had a result.
            models.Index(
                fields=["board", "id"],
                name="lease_unhappy",
                condition=Q(state__in=["failed", "expired", "released", "revoked"]),
            ),
            models.Index(
                fields=["card"], name="lease_lapsed", condition=Q(state="expired")
            ),
            models.Index(
                fields=["cancel_requested_at"],
                name="lease_cancelled",
                condition=Q(ended_at=None, cancel_requested_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.attempt}"


class Slot(models.Model):
    """One of a column's `concurrency_limit` places. A claim takes a free one with SKIP
    LOCKED, so the limit is exact without a lock that all claims share (measured: 0.92
    of the floor, a counter row 0.36, counting without a lock lets 16 in where 5 may).

    Rows above the limit in force stay and are never taken.
    """

    pk = models.CompositePrimaryKey("column_id", "number")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+", db_index=False)
    number = models.IntegerField()
    lease_id = models.UUIDField(null=True)

    def __str__(self) -> str:
        return f"slot {self.number}"


class Ask(models.Model):
    """When somebody last asked for a card of a queue, to half a minute: each process
    remembers it and writes it down now and then, never once per claim."""

    column = models.OneToOneField(
        Column, models.CASCADE, primary_key=True, related_name="+"
    )
    last_at = models.DateTimeField(db_default=ClockTimestamp())

    def __str__(self) -> str:
        return f"asked at {self.last_at}"


class DeadLetter(models.Model):
    """Why a card failed for good the last time, where and in whose hands. It counts as
    long as the card is one of `boards.models.DEAD`: who brings a card back needn't
    know of it. `fold` is the reason as it's counted (leases.folding)."""

    card = models.OneToOneField(
        Card, models.CASCADE, primary_key=True, related_name="dead_letter"
    )
    lease_id = models.UUIDField(null=True)
    # The queue in which it failed; the card may lie elsewhere since.
    column = models.ForeignKey(
        Column, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    holder = models.ForeignKey(
        Actor,
        models.PROTECT,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    fold = models.CharField(max_length=MAX_FOLD_CHARACTERS, blank=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.fold


class Refusal(models.Model):
    """Calls with a receipt that had lost its card: who still believed to hold it.

    A row of its own, since an ended lease and its card stay as they are. One per
    credential and verb, counted, so that a worker that goes on for ever fills nothing.
    """

    id = models.BigAutoField(primary_key=True)
    lease = models.ForeignKey(
        Lease, models.CASCADE, related_name="refusals", db_index=False
    )
    verb = models.CharField(max_length=10)
    credential = models.UUIDField()
    times = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField(db_default=ClockTimestamp())
    last_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lease", "verb", "credential"], name="refusal_counted_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.verb} refused {self.times} times"
