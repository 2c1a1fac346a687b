"""Endpoints that other systems have, what is to be told to them, and what came of it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.ids import new_id
from accounts.models import Actor, Workspace
from boards.models import ClockTimestamp, Snapshot


class Endpoint(models.Model):
    """Where events of a workspace go. `boards` empty = of all of them.

    `since` is a transaction's id: events of older ones aren't sent, so that a new
    endpoint isn't told the past. `failing_since` is the first failure after the last
    success. Header values are sealed: they're often credentials.
    """

    class Format(models.TextChoices):
        STANDARD = "standard", "Standard Webhooks"
        CLOUDEVENTS = "cloudevents", "CloudEvents, structured"

    class Off(models.TextChoices):
        """Why it's switched off."""

        NO = "", "-"
        BY_HAND = "by_hand"
        GONE = "gone", "it answered 410"
        FAILING = "failing", "it failed for days"
        OWNER = "owner", "its owner is no admin any more"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    owner = models.ForeignKey(Actor, models.PROTECT, related_name="+")
    url = models.CharField(max_length=2000)
    description = models.CharField(max_length=200, blank=True)
    types = ArrayField(models.CharField(max_length=60))
    boards = ArrayField(models.UUIDField(), default=list, blank=True)
    format = models.CharField(max_length=11, choices=Format, default=Format.STANDARD)
    header_names = ArrayField(models.CharField(max_length=100), default=list)
    headers = models.TextField(blank=True, editable=False)
    enabled = models.BooleanField(default=True)
    off = models.CharField(max_length=7, choices=Off, default=Off.NO, blank=True)
    off_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    since = models.BigIntegerField(db_default=Snapshot())
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(enabled=True, off="") | (Q(enabled=False) & ~Q(off="")),
                name="endpoint_off_says_why",
            )
        ]

    def __str__(self) -> str:
        return self.url


class Secret(models.Model):
    """What an endpoint's deliveries are signed with. After a rotation the old one goes
    on signing beside the new one until `expires_at`."""

    id = models.BigAutoField(primary_key=True)
    endpoint = models.ForeignKey(Endpoint, models.CASCADE, related_name="secrets")
    sealed = models.TextField(editable=False)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    def __str__(self) -> str:
        return f"secret {self.pk}"


class Cursor(models.Model):
    """How far a workspace's events have been taken up. Who locks the row does it."""

    workspace = models.OneToOneField(
        Workspace, models.CASCADE, primary_key=True, related_name="+"
    )
    transaction = models.BigIntegerField(db_default=Snapshot())
    event_id = models.UUIDField()

    def __str__(self) -> str:
        return f"{self.transaction} {self.event_id}"


class Message(models.Model):
    """What is told about one event, once for all endpoints and all tries: `body` is the
    text of a Standard Webhooks body."""

    event_id = models.UUIDField(primary_key=True)
    body = models.TextField()

    def __str__(self) -> str:
        return str(self.event_id)


class Delivery(models.Model):
    """One message for one endpoint, until it's received or given up.

    `due_at` says when to try (again). A worker that takes it moves `due_at` to when it
    must be done and writes its mark into `taken`: if it dies, the delivery is simply due
    again. No foreign key to the message: what is older than the retention goes by age.
    """

    class State(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed", "given up"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    endpoint = models.ForeignKey(
        Endpoint, models.CASCADE, related_name="deliveries", db_index=False
    )
    event_id = models.UUIDField()
    type = models.CharField(max_length=60)
    card_id = models.UUIDField(null=True)
    sequence = models.PositiveBigIntegerField(null=True)
    state = models.CharField(max_length=9, choices=State, default=State.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    # Of these, since it was sent again by hand.
    tries = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(db_default=ClockTimestamp(), null=True)
    taken = models.UUIDField(null=True)
    status = models.PositiveIntegerField(null=True)
    problem = models.CharField(max_length=20, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # Rising with time by its second field: what pages of an endpoint's
            # deliveries are read by, too.
            models.UniqueConstraint(
                fields=["endpoint", "event_id"], name="delivery_once_per_endpoint"
            ),
        ]
        indexes = [
            models.Index(
                fields=["endpoint", "due_at", "event_id"],
                name="delivery_due",
                condition=Q(state="pending"),
            ),
            models.Index(
                fields=["endpoint", "card_id", "sequence"],
                name="delivery_in_order",
                condition=Q(state="pending"),
            ),
            models.Index(
                fields=["endpoint", "event_id"],
                name="delivery_failed",
                condition=Q(state="failed"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.state}"


class Attempt(models.Model):
    """One try: when, how long, what came back (its first KB)."""

    id = models.BigAutoField(primary_key=True)
    delivery = models.ForeignKey(Delivery, models.CASCADE, related_name="tried")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    milliseconds = models.PositiveIntegerField()
    status = models.PositiveIntegerField(null=True)
    problem = models.CharField(max_length=20, blank=True)
    answer = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"try {self.number}"


class Tally(models.Model):
    """How many tries of an endpoint went well and ill in an hour, so that a page needs
    not count its history."""

    pk = models.CompositePrimaryKey("endpoint_id", "hour")
    endpoint = models.ForeignKey(
        Endpoint, models.CASCADE, related_name="+", db_index=False
    )
    hour = models.DateTimeField()
    delivered = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.delivered}/{self.failed}"


class Turn(models.Model):
    """Who runs the delivery loop with this number (webhooks.one_at_a_time)."""

    number = models.IntegerField(primary_key=True)
    holder = models.UUIDField()
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.number} until {self.until:%X}"
