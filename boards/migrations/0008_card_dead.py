"""Dead letters are found and counted without a look at what is not one."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("boards", "0007_card_doing")]
    operations = [
        AddIndexConcurrently(
            model_name="card",
            index=models.Index(
                fields=["board"],
                name="card_dead",
                condition=Q(archived_at=None, number__gt=0)
                & Q(state="failed", cancelled_at=None),
            ),
        ),
    ]
