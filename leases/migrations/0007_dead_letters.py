"""Why cards failed for good, noted when they do (leases.models.DeadLetter)."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_skills"),
        ("boards", "0008_card_dead"),
        ("leases", "0006_unhappy"),
    ]
    operations = [
        migrations.CreateModel(
            name="DeadLetter",
            fields=[
                (
                    "card",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="dead_letter",
                        serialize=False,
                        to="boards.card",
                    ),
                ),
                ("lease_id", models.UUIDField(null=True)),
                ("fold", models.CharField(blank=True, max_length=200)),
                ("at", models.DateTimeField()),
                (
                    "column",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="boards.column",
                    ),
                ),
                (
                    "holder",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.actor",
                    ),
                ),
            ],
        ),
    ]
