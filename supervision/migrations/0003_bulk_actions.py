"""What is done to many dead letters, card by card."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import accounts.ids
import boards.models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_skills"),
        ("boards", "0008_card_dead"),
        ("supervision", "0003_totals"),
    ]
    operations = [
        migrations.CreateModel(
            name="BulkAction",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=accounts.ids.new_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("token_id", models.UUIDField(null=True)),
                (
                    "verb",
                    models.CharField(
                        choices=[
                            ("retry", "Retry"),
                            ("move", "Move"),
                            ("discard", "Discard"),
                        ],
                        max_length=7,
                    ),
                ),
                ("column_id", models.UUIDField(null=True)),
                ("reason", models.TextField(blank=True, default="")),
                (
                    "boards",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("stopped", "Stopped"),
                        ],
                        default="running",
                        max_length=8,
                    ),
                ),
                ("total", models.PositiveIntegerField()),
                ("done", models.PositiveIntegerField(default=0)),
                ("refused", models.PositiveIntegerField(default=0)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=boards.models.ClockTimestamp(), editable=False
                    ),
                ),
                (
                    "touched_at",
                    models.DateTimeField(
                        db_default=boards.models.ClockTimestamp(), editable=False
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "actor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.actor",
                    ),
                ),
                (
                    "stopped_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.actor",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "running")),
                        fields=["created_at"],
                        name="bulk_action_running",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BulkItem",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "action_id",
                        "number",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("done", "Done"),
                            ("refused", "Refused"),
                        ],
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("code", models.CharField(blank=True, default="", max_length=40)),
                ("detail", models.TextField(blank=True, default="")),
                ("at", models.DateTimeField(null=True)),
                (
                    "action",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="supervision.bulkaction",
                    ),
                ),
                (
                    "card",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="boards.card",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["action", "number"],
                        name="bulk_item_waiting",
                    )
                ],
            },
        ),
    ]
