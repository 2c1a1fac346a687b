"""What transfer keeps: imports and their reports, rows on their way, borrowed names."""

from django.db import models
from django.db.models import Q

from accounts.ids import new_id
from accounts.models import Actor, Workspace
from boards.models import ClockTimestamp, Column


class ImportRun(models.Model):
    """One file that somebody wants on a board: looked at (a draft), on its way, ended.

    `content` is empty once it has ended. `tries` tells a worker that came back from a
    long pause that somebody else has begun anew.
    """

    class Kind(models.TextChoices):
        NOVUM = "novum", "a board of Novum"
        TRELLO = "trello", "a board of Trello"
        TABLE = "table", "a table"

    class State(models.TextChoices):
        DRAFT = "draft"
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_index=False
    )
    actor = models.ForeignKey(Actor, models.PROTECT, related_name="+")
    token_id = models.UUIDField(null=True, editable=False)
    kind = models.CharField(max_length=6, choices=Kind)
    file_name = models.CharField(max_length=200, blank=True)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    content = models.BinaryField(default=b"")
    # How to read the file, and where to put it, as the caller said it.
    options = models.JSONField(default=dict)
    target = models.JSONField(default=dict)
    state = models.CharField(max_length=7, choices=State, default=State.DRAFT)
    tries = models.PositiveIntegerField(default=0)
    stirred_at = models.DateTimeField(null=True)
    board_id = models.UUIDField(null=True)
    # Of `total` cards, `staged` are in the database; none is on a board until all are.
    total = models.PositiveIntegerField(default=0)
    staged = models.PositiveIntegerField(default=0)
    read = models.PositiveIntegerField(default=0)
    imported = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "-id"], name="import_latest"),
            models.Index(fields=["workspace", "sha256"], name="import_of_file"),
            models.Index(
                fields=["id"],
                name="import_on_its_way",
                condition=Q(state__in=["waiting", "running"]),
            ),
        ]

    def __str__(self) -> str:
        return self.file_name or self.kind


class StagedRow(models.Model):
    """A row of a table of ours, kept here until all of its file are there."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(ImportRun, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=8)
    row = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["run", "kind", "id"], name="staged_in_order")]

    def __str__(self) -> str:
        return self.kind


class Former(models.Model):
    """Stands for somebody whom a file names and nobody here is: a disabled seat that
    leaves their `handle` free and gives it back when the board is exported again."""

    actor = models.OneToOneField(
        Actor, models.CASCADE, primary_key=True, related_name="+"
    )
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_index=False
    )
    handle = models.CharField(max_length=39)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "handle"], name="former_once_per_workspace"
            )
        ]

    def __str__(self) -> str:
        return f"@{self.handle}"


class QueueName(models.Model):
    """The name that a queue had where it comes from, where another one has it here."""

    column = models.OneToOneField(
        Column, models.CASCADE, primary_key=True, related_name="+"
    )
    wished = models.CharField(max_length=60)
    given = models.CharField(max_length=60)

    def __str__(self) -> str:
        return self.wished
