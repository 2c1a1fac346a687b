"""What needs somebody is found without a walk along all cards of a queue."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("boards", "0008_card_dead")]
    operations = [
        AddIndexConcurrently(
            model_name="card",
            index=models.Index(
                fields=["column", "id"],
                name="card_misfit",
                condition=Q(state="open", archived_at=None) & Q(fits=False),
            ),
        ),
        AddIndexConcurrently(
            model_name="card",
            index=models.Index(
                fields=["column", "id"],
                name="card_retried",
                condition=Q(archived_at=None, number__gt=0)
                & Q(state__in=["open", "claimed"], attempts__gte=2),
            ),
        ),
    ]
