import boards.models
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("boards", "0007_card_doing"),
        ("supervision", "0002_figures"),
    ]

    operations = [
        migrations.AddField(
            model_name="loop",
            name="known_at",
            field=models.DateTimeField(db_default=boards.models.ClockTimestamp()),
        ),
        migrations.CreateModel(
            name="QueueTotals",
            fields=[
                (
                    "column",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="boards.column",
                    ),
                ),
                ("claims", models.PositiveBigIntegerField(default=0)),
                ("completed", models.PositiveBigIntegerField(default=0)),
                ("failed", models.PositiveBigIntegerField(default=0)),
                ("dead_lettered", models.PositiveBigIntegerField(default=0)),
                ("expired", models.PositiveBigIntegerField(default=0)),
                ("released", models.PositiveBigIntegerField(default=0)),
                ("revoked", models.PositiveBigIntegerField(default=0)),
                (
                    "run",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveBigIntegerField(),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                (
                    "wait",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveBigIntegerField(),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
            ],
        ),
    ]
