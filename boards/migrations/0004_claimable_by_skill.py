"""Cards that ask for skills leave the index of those that anybody may claim.

Beside the old index, without a lock that writers would wait for; the old one goes last,
so claims by code from before find their cards until then.
"""

from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("boards", "0003_parents_and_skills")]
    operations = [
        migrations.RenameIndex(
            "card", new_name="card_claimable_before", old_name="card_claimable"
        ),
        AddIndexConcurrently(
            model_name="card",
            index=models.Index(
                condition=models.Q(
                    ("archived_at", None),
                    ("state", "open"),
                    ("available_at", None),
                    ("fits", True),
                    ("assignee", None),
                    ("skills", []),
                ),
                fields=["column", "priority", "position", "id"],
                name="card_claimable",
            ),
        ),
        AddIndexConcurrently(
            model_name="card",
            index=models.Index(
                condition=models.Q(
                    ("archived_at", None),
                    ("state", "open"),
                    ("available_at", None),
                    ("fits", True),
                    ("assignee", None),
                    models.Q(("skills", []), _negated=True),
                ),
                fields=["column", "priority", "position", "id"],
                name="card_claimable_skilled",
            ),
        ),
        RemoveIndexConcurrently("card", "card_claimable_before"),
    ]
