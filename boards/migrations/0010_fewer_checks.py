"""PostgreSQL reads each check anew for every statement that writes a row: counters that
only rise have none any more, and what a state means for a card is one of them."""

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # The table is only locked for moments: the old rows are looked at in between.
    atomic = False
    dependencies = [("boards", "0009_needs")]
    operations = [
        AddConstraintNotValid(
            model_name="card",
            constraint=models.CheckConstraint(
                condition=Q(state="claimed", lease_id__isnull=False, archived_at=None)
                | Q(
                    state__in=["", "open", "done", "failed"], lease_id=None, holder=None
                ),
                name="card_state_is_whole",
            ),
        ),
        ValidateConstraint(model_name="card", name="card_state_is_whole"),
        migrations.RemoveConstraint("card", "card_state_known"),
        migrations.RemoveConstraint("card", "card_claimed_has_lease"),
        migrations.RemoveConstraint("card", "card_claimed_is_not_archived"),
        migrations.AlterField("card", "number", models.BigIntegerField(editable=False)),
        migrations.AlterField("card", "priority", models.SmallIntegerField(default=3)),
        migrations.AlterField(
            "card", "version", models.BigIntegerField(default=1, editable=False)
        ),
        migrations.AlterField(
            "card", "sequence", models.BigIntegerField(default=0, editable=False)
        ),
        migrations.AlterField("event", "sequence", models.BigIntegerField(null=True)),
    ]
