"""What happened, as rows."""

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.db.models import Q

from accounts.ids import new_id
from accounts.models import Actor, Workspace
from boards import nudges
from boards.models.functions import ClockTimestamp, Transaction


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
