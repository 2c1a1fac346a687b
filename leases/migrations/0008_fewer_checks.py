"""What a state means for a lease is one check, as for cards (boards, the same name)."""

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("leases", "0007_dead_letters")]
    operations = [
        AddConstraintNotValid(
            model_name="lease",
            constraint=models.CheckConstraint(
                condition=Q(state="active", ended_at=None, outcome="")
                | Q(state="completed", ended_at__isnull=False, outcome="")
                | Q(
                    state__in=["failed", "expired", "released", "revoked"],
                    ended_at__isnull=False,
                ),
                name="lease_state_is_whole",
            ),
        ),
        ValidateConstraint(model_name="lease", name="lease_state_is_whole"),
        migrations.RemoveConstraint("lease", "lease_ended_iff_not_active"),
        migrations.RemoveConstraint("lease", "lease_outcome_only_without_result"),
        migrations.AlterField("lease", "attempt", models.IntegerField()),
        migrations.AlterField(
            "lease", "slot", models.IntegerField(editable=False, null=True)
        ),
        migrations.AlterField("lease", "seconds", models.IntegerField(null=True)),
        migrations.AlterField("lease", "renewals", models.IntegerField(default=0)),
        migrations.AlterField("slot", "number", models.IntegerField()),
    ]
