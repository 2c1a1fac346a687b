"""Open pages ask every few seconds who says to be at a card."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("boards", "0006_task_lists")]
    operations = [
        AddIndexConcurrently(
            model_name="card",
            index=models.Index(
                condition=models.Q(("doing_at__isnull", False)),
                fields=["board", "doing_at"],
                name="card_doing",
            ),
        ),
    ]
