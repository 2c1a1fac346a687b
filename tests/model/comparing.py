"""What must be true after every step."""

from datetime import timedelta
from time import monotonic

from django.db.models import ExpressionWrapper, F, FloatField
from django.db.models.functions import Extract
from hypothesis.stateful import invariant

from boards.models import Card, ClockTimestamp
from leases.models import Lease
from tests.invariants import assert_sound
from tests.model.both import COLUMNS, Both

PATIENCE = timedelta(seconds=10)


def _seconds(field):
    return ExpressionWrapper(
        Extract(F(field) - ClockTimestamp(), "epoch"), output_field=FloatField()
    )


class Comparing(Both):
    @invariant()
    def a_clock_stands_still(self):
        """The first of these by its name."""
        took = timedelta(seconds=monotonic() - getattr(self, "since", monotonic()))
        if took < PATIENCE:
            return
        board, cards = {"board_id": self.world.board}, Card.objects
        active = Lease.objects.filter(**board, ended_at=None)
        active.update(expires_at=F("expires_at") + took)
        cards.filter(**board).update(
            available_at=F("available_at") + took, waits_since=F("waits_since") + took
        )
        self.since = monotonic()

    @invariant()
    def the_cards_are_alike(self):
        if not getattr(self, "cards", None):
            return
        rows = Card.objects.filter(board_id=self.world.board).annotate(
            left=_seconds("available_at")
        )
        stored = {row.pk: row for row in rows.select_related("assignee")}
        assert set(stored) == set(self.cards)
        for key, card in zip(self.cards, self.model.cards, strict=True):
            row = stored[key]
            handle = card.assignee and self.workers[card.assignee].handle
            assert (
                self.names[row.column_id],
                row.priority,
                row.assignee and row.assignee.handle,
                row.state,
                row.attempts,
                row.fits,
                row.archived_at is not None,
                row.cancelled_at is not None,
                row.waits,
            ) == (
                card.column,
                card.priority,
                handle,
                card.state,
                card.attempts,
                card.fits,
                card.archived,
                card.cancelled,
                card.pauses,
            )
            self._at_the_same_time(row.left, card.due)
        for column in COLUMNS:
            self._in_order(column, stored)

    def _in_order(self, column, stored):
        """Of the jobs: the order of several dead letters at once is nobody's promise."""
        shown = sorted(
            (row.priority, row.position, key)
            for key, row in stored.items()
            if (row.column_id, row.archived_at) == (self.ids[column], None)
            and row.state in ("open", "claimed")
        )
        expected = [
            self.cards[self.model.cards.index(card)]
            for card in self.model.shown(column)
            if card.state in ("open", "claimed")
        ]
        assert [key for _, _, key in shown] == expected

    @invariant()
    def the_leases_are_alike(self):
        if not getattr(self, "leases", None):
            return
        rows = Lease.objects.filter(board_id=self.world.board).annotate(
            left=_seconds("expires_at")
        )
        stored = {row.pk: row for row in rows}
        assert set(stored) == set(self.leases)
        for key, lease in zip(self.leases, self.model.leases, strict=True):
            row = stored[key]
            assert (row.state, row.outcome, row.attempt) == (
                lease.state,
                lease.outcome,
                lease.attempt,
            )
            if lease.state == "active":
                self._at_the_same_time(row.left, lease.expires)

    def _at_the_same_time(self, left, moment):
        """`left`: seconds from now on by PostgreSQL's clock."""
        if moment is None:
            assert left is None
        else:
            assert abs(left + self.model.now - moment) < 45

    @invariant()
    def the_workspace_is_sound(self):
        if hasattr(self, "world"):
            assert_sound(self.world.workspace.pk)
