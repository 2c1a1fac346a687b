"""The activity log is read from any end: a board, somebody, a rare type of event."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q

DAILY = ("card.created", "card.lease.claimed", "card.lease.completed", "task.done")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("boards", "0010_fewer_checks")]
    operations = [
        AddIndexConcurrently(
            model_name="event",
            index=models.Index(fields=["board_id", "id"], name="event_of_board"),
        ),
        AddIndexConcurrently(
            model_name="event",
            index=models.Index(fields=["actor", "id"], name="event_of_actor"),
        ),
        AddIndexConcurrently(
            model_name="event",
            index=models.Index(
                fields=["workspace", "type", "id"],
                name="event_rare",
                condition=~Q(type__in=DAILY),
            ),
        ),
    ]
