"""What tasks have beyond cards and leases: a home, messages, and who has read them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.ids import new_id
from accounts.models import Actor, Workspace
from boards.models import Board, ClockTimestamp


class TasksBoard(models.Model):
    """The board of a workspace on which queues are made at their first use."""

    workspace = models.OneToOneField(
        Workspace, models.CASCADE, primary_key=True, related_name="+"
    )
    board = models.ForeignKey(Board, models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"tasks of {self.workspace_id}"


class Mailbox(models.Model):
    """One actor's messages: how many there were, and what of them goes out as e-mail.

    Whoever adds a message holds this row until the end of their transaction. So the
    numbers become visible in their order, and nothing appears behind a number that
    somebody has already read.
    """

    class Mail(models.TextChoices):
        ASSIGNED = "assigned", "a task is given to me"
        MENTIONED = "mentioned", "somebody mentions me"
        ENDED = "ended", "a task of mine has ended"

    actor = models.OneToOneField(
        Actor, models.CASCADE, primary_key=True, related_name="+"
    )
    last_number = models.BigIntegerField(default=0, db_default=0)
    # Looked at for e-mail up to here.
    mailed_number = models.BigIntegerField(default=0, db_default=0)
    muted = ArrayField(
        models.CharField(max_length=10, choices=Mail),
        default=list,
        db_default=[],
        blank=True,
        help_text="kinds that this person does not want by e-mail",
    )

    def __str__(self) -> str:
        return f"mailbox of {self.actor_id}"


class Message(models.Model):
    """Something an actor is told. `number` rises by one per recipient; `event_id` is
    what brought it about, so that one event tells everybody once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_index=False
    )
    recipient = models.ForeignKey(
        Actor, models.CASCADE, related_name="+", db_index=False
    )
    number = models.BigIntegerField()
    topic = models.CharField(max_length=60)
    type = models.CharField(max_length=60)
    correlation_id = models.CharField(max_length=200, blank=True)
    sender = models.ForeignKey(
        Actor, models.PROTECT, null=True, related_name="+", db_index=False
    )
    payload = models.JSONField(null=True)
    event_id = models.UUIDField(null=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "number"], name="message_number_once"
            ),
            models.UniqueConstraint(
                fields=["recipient", "event_id"], name="message_of_event_once"
            ),
        ]
        indexes = [
            models.Index(
                fields=["recipient", "number"],
                name="message_unread",
                condition=Q(read_at=None),
            ),
            models.Index(
                fields=["workspace", "correlation_id", "created_at"],
                name="message_thread",
            ),
            models.Index(fields=["created_at"], name="message_age"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.correlation_id}"


class Gathering(models.Model):
    """How far a workspace's events have been turned into messages: all of those whose
    transaction is below `transaction`, and perhaps some above."""

    workspace = models.OneToOneField(
        Workspace, models.CASCADE, primary_key=True, related_name="+"
    )
    transaction = models.BigIntegerField(default=0)
    gathered_at = models.DateTimeField(db_default=ClockTimestamp())

    def __str__(self) -> str:
        return f"gathered up to {self.transaction}"
