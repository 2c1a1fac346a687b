"""What PostgreSQL knows and Django has no word for."""

from django.db import models
from django.db.models import BigIntegerField, Func

from boards.ordering import GAP


class ClockTimestamp(Func):
    """PostgreSQL's clock at this very moment: `Now()` is the statement's start, which
    is too old after a wait for a lock."""

    function = "clock_timestamp"
    output_field = models.DateTimeField()


class NextPosition(Func):
    """The end of every column: above all positions handed out before."""

    template = f"(nextval('boards_card_position') * {GAP})"
    output_field = BigIntegerField()


class Transaction(Func):
    """The id of the current transaction, which the feed's cursor is made of."""

    template = "(pg_current_xact_id()::text::bigint)"
    output_field = BigIntegerField()


class Snapshot(Func):
    """The oldest transaction still running: everything below has ended."""

    template = "(pg_snapshot_xmin(pg_current_snapshot())::text::bigint)"
    output_field = BigIntegerField()
