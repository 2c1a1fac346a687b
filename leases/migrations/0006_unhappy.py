"""Attempts that ended without a result are found among a million that had one."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("leases", "0005_cancelling")]
    operations = [
        AddIndexConcurrently(
            model_name="lease",
            index=models.Index(
                fields=["board", "id"],
                name="lease_unhappy",
                condition=Q(state__in=["failed", "expired", "released", "revoked"]),
            ),
        ),
    ]
