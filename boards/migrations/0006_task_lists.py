"""Lists of tasks over many columns stay fast however many of them have ended."""

from django.db import migrations, models
from django.db.models import Q

PRESENT = Q(archived_at=None, number__gt=0)


class Migration(migrations.Migration):
    dependencies = [("boards", "0005_cancelling")]
    operations = [
        migrations.RemoveIndex(model_name="card", name="card_assigned"),
        migrations.AddIndex(
            model_name="card",
            index=models.Index(
                fields=["assignee", "state", "priority", "position", "id"],
                name="card_assigned",
                condition=PRESENT & Q(assignee__isnull=False),
            ),
        ),
        migrations.AddIndex(
            model_name="card",
            index=models.Index(
                fields=["column", "state", "priority", "position", "id"],
                name="card_live",
                condition=PRESENT & Q(state__in=["open", "claimed"]),
            ),
        ),
        migrations.AddIndex(
            model_name="card",
            index=models.Index(
                fields=["column", "state", "-updated_at", "-id"],
                name="card_ended",
                condition=PRESENT & Q(state__in=["done", "failed"]),
            ),
        ),
    ]
