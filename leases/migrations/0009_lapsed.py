"""Cards that lapse again and again are told without a look at all their attempts."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("leases", "0008_fewer_checks")]
    operations = [
        AddIndexConcurrently(
            model_name="lease",
            index=models.Index(
                fields=["card"], name="lease_lapsed", condition=Q(state="expired")
            ),
        ),
    ]
