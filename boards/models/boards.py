"""Boards, who may do what on them, and their columns."""

from django.db import models

from accounts.ids import new_id
from accounts.models import Actor, Workspace
from accounts.roles import BOARD_ROLES, BoardRole
from boards.models.functions import NextPosition


class Board(models.Model):
    """A wall of columns. `default_role` is what every member of the workspace may do
    here without being named (null: nothing, the board is private)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="boards")
    name = models.CharField(max_length=100)
    description = models.TextField(blank=True)
    default_role = models.PositiveSmallIntegerField(
        choices=BOARD_ROLES, default=BoardRole.EDITOR, null=True, blank=True
    )
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class BoardMember(models.Model):
    """A role named on one board; it goes before the board's default."""

    id = models.BigAutoField(primary_key=True)
    board = models.ForeignKey(Board, models.CASCADE, related_name="members")
    actor = models.ForeignKey(Actor, models.CASCADE, related_name="+")
    role = models.PositiveSmallIntegerField(choices=BOARD_ROLES)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["board", "actor"], name="board_member_once")
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.get_role_display()}"


class Column(models.Model):
    """An ordered list of cards. `is_queue` and `checks_input` mirror the contract
    (kept by `leases.verbs.set_contract`), so that a card knows its state on arrival
    without knowing leases."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    board = models.ForeignKey(Board, models.CASCADE, related_name="columns")
    name = models.CharField(max_length=100)
    position = models.BigIntegerField(db_default=NextPosition())
    color = models.CharField(max_length=20, blank=True)
    wip_limit = models.PositiveIntegerField(null=True, blank=True)
    is_queue = models.BooleanField(default=False, editable=False)
    checks_input = models.BooleanField(default=False, editable=False)
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["board", "position"], name="column_order")]

    def __str__(self) -> str:
        return self.name
