"""What supervision keeps: what the queues did, and how its loops fare."""

from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.ids import new_id
from accounts.models import Actor, Workspace
from boards.models import Card, ClockTimestamp, Column


class Counts(models.Model):
    """What the events of one span of time add up to: `span` seconds from `start` on, a
    minute or an hour. `run` says how many attempts that were completed or failed took
    how long: how many in each bucket of `supervision.histograms`, cut off after the
    last one that isn't empty."""

    class Span(models.IntegerChoices):
        MINUTE = 60
        HOUR = 3600

    span = models.PositiveSmallIntegerField(choices=Span)
    start = models.DateTimeField()
    claims = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    dead_lettered = models.PositiveIntegerField(default=0)
    expired = models.PositiveIntegerField(default=0)
    released = models.PositiveIntegerField(default=0)
    revoked = models.PositiveIntegerField(default=0)
    run = ArrayField(models.PositiveIntegerField(), default=list, blank=True)

    class Meta:
        abstract = True


class QueueFigures(Counts):
    """Of a whole queue. More histograms: `wait` from ready to claimed; for the question
    what another lease length would do, how long holders were silent that gave their
    card back in time: `quiet` of those that never renewed, `gap` (the longest known
    silence) of those that did. `depth` and `working` are the highest of the samples,
    one a minute; 0 where none was worth a row."""

    pk = models.CompositePrimaryKey("column_id", "span", "start")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+", db_index=False)
    wait = ArrayField(models.PositiveIntegerField(), default=list, blank=True)
    quiet = ArrayField(models.PositiveIntegerField(), default=list, blank=True)
    gap = ArrayField(models.PositiveIntegerField(), default=list, blank=True)
    depth = models.PositiveIntegerField(default=0)
    working = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(
                fields=["start"], name="queue_figures_minutes", condition=Q(span=60)
            )
        ]

    def __str__(self) -> str:
        return f"{self.column_id} at {self.start}"


class HolderFigures(Counts):
    """Of what one holder did in a queue."""

    pk = models.CompositePrimaryKey("column_id", "span", "start", "holder_id")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+", db_index=False)
    holder = models.ForeignKey(
        Actor, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )

    class Meta:
        indexes = [
            models.Index(fields=["holder", "span", "start"], name="holder_figures"),
            models.Index(
                fields=["start"], name="holder_figures_minutes", condition=Q(span=60)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.holder_id} at {self.start}"


class QueueTotals(models.Model):
    """All that a queue ever did, for those who count on numbers that only rise."""

    column = models.OneToOneField(
        Column, models.CASCADE, primary_key=True, related_name="+"
    )
    claims = models.PositiveBigIntegerField(default=0)
    completed = models.PositiveBigIntegerField(default=0)
    failed = models.PositiveBigIntegerField(default=0)
    dead_lettered = models.PositiveBigIntegerField(default=0)
    expired = models.PositiveBigIntegerField(default=0)
    released = models.PositiveBigIntegerField(default=0)
    revoked = models.PositiveBigIntegerField(default=0)
    run = ArrayField(models.PositiveBigIntegerField(), default=list, blank=True)
    wait = ArrayField(models.PositiveBigIntegerField(), default=list, blank=True)

    def __str__(self) -> str:
        return f"{self.column_id}: {self.claims}"


class RollUp(models.Model):
    """How far a workspace's events are rolled up, and when its queues were last
    counted. Whoever holds this row does the work."""

    workspace = models.OneToOneField(
        Workspace, models.CASCADE, primary_key=True, related_name="+"
    )
    transaction = models.BigIntegerField(default=0, db_default=0)
    event_id = models.UUIDField(default=UUID(int=0), db_default=UUID(int=0))
    sampled_at = models.DateTimeField(null=True)
    rolled_at = models.DateTimeField(db_default=ClockTimestamp())

    def __str__(self) -> str:
        return f"of {self.workspace_id} up to {self.transaction}"


class Loop(models.Model):
    """When one of the worker's loops last did what it's for, and when it last failed.

    `name` is that of the timetable; `problem` the kind of the error, no word of it.
    """

    name = models.CharField(primary_key=True, max_length=100)
    # Since when it's one of the timetable's.
    known_at = models.DateTimeField(db_default=ClockTimestamp())
    ran_at = models.DateTimeField(null=True)
    seconds = models.FloatField(default=0)
    failed_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=100, blank=True, default="")

    def __str__(self) -> str:
        return self.name


class BulkAction(models.Model):
    """One thing done to many dead letters, chunk by chunk. The rows are the truth: who
    runs it keeps nothing, and anybody can go on where it stopped.

    `boards` are those of its cards: who sees them all sees the action.
    """

    class Verb(models.TextChoices):
        RETRY = "retry"
        MOVE = "move"
        DISCARD = "discard"

    class State(models.TextChoices):
        RUNNING = "running"
        FINISHED = "finished"
        STOPPED = "stopped"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    actor = models.ForeignKey(Actor, models.PROTECT, related_name="+")
    token_id = models.UUIDField(null=True)
    verb = models.CharField(max_length=7, choices=Verb)
    column_id = models.UUIDField(null=True)
    reason = models.TextField(blank=True, default="")
    boards = ArrayField(models.UUIDField(), default=list)
    state = models.CharField(max_length=8, choices=State, default=State.RUNNING)
    total = models.PositiveIntegerField()
    done = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    touched_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    ended_at = models.DateTimeField(null=True)
    stopped_by = models.ForeignKey(
        Actor, models.PROTECT, null=True, related_name="+", db_index=False
    )

    class Meta:
        indexes = [
            models.Index(
                fields=["created_at"],
                name="bulk_action_running",
                condition=Q(state="running"),
            )
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.total}"


class BulkItem(models.Model):
    """One card of a bulk action, and what became of it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        REFUSED = "refused"

    pk = models.CompositePrimaryKey("action_id", "number")
    action = models.ForeignKey(
        BulkAction, models.CASCADE, related_name="items", db_index=False
    )
    number = models.PositiveIntegerField()
    card = models.ForeignKey(Card, models.CASCADE, related_name="+", db_index=False)
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    code = models.CharField(max_length=40, blank=True, default="")
    detail = models.TextField(blank=True, default="")
    at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["action", "number"],
                name="bulk_item_waiting",
                condition=Q(state="waiting"),
            )
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.state}"
