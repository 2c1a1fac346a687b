"""Both at once: the real engine, the reference, and the clock of the two.

Time is moved by moving what is stored back. All lengths are 50 modulo 100 seconds and
time moves in hundreds, so that the seconds a test really takes never decide anything;
and where they are many, what is still to come is moved on by as many
(tests.model.comparing).
"""

from dataclasses import replace
from time import monotonic
from typing import Any

import pytest
from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from accounts.errors import DomainError
from leases.verbs.set_contract import Terms, set_contract
from tests.builders import a_world, an_agent
from tests.connections import undone
from tests.model import reference
from tests.model.reference import Reference, Refused

COLUMNS = ("queue", "done", "failed")
GOOD, BAD = {"topic": "bees"}, "no object"
SCHEMA = {"properties": {"payload": {"type": "object"}}}
WORKERS = st.sampled_from(["ann", "bob"])
COLUMN = st.sampled_from(COLUMNS)
ANY = st.integers(0, 999)
ENDS = ("complete", "fail", "release", "wait")
FORCE = st.sampled_from([False, False, True])
TERMS = st.builds(
    reference.Terms,
    enabled=st.sampled_from([True] * 9 + [False]),
    paused=st.sampled_from([False] * 9 + [True]),
    max_attempts=st.sampled_from([1, 2, 3]),
    backoff=st.sampled_from([(), (50,), (50, 250)]),
    limit=st.sampled_from([None, 1, 2, 3]),
    seconds=st.sampled_from([250, 950]),
    success=st.sampled_from([None, *COLUMNS]),
    failure=st.sampled_from([None, *COLUMNS]),
    strict=st.booleans(),
)


class Both(RuleBasedStateMachine):
    """What all rules have in common."""

    @initialize(terms=TERMS, cards=st.integers(2, 8))
    def begin(self, terms, cards):
        self.undone = undone()
        self.undone.__enter__()
        self.world = a_world()
        self.owner = self.world.owner
        able = replace(self.world.worker, skills=frozenset({"seo", "other"}))
        self.workers = {"ann": able, "bob": an_agent(self.world.workspace)}
        self.ids = {name: getattr(self.world, name) for name in COLUMNS}
        self.names = {key: name for name, key in self.ids.items()}
        self.model = Reference(COLUMNS)
        self.cards, self.leases, self.tokens = [], [], []
        self.remembered = {}
        self.since = monotonic()
        self._set("queue", terms, force=False)
        for _ in range(cards):
            self._create("queue", 3, None, good=True)

    def teardown(self):
        if hasattr(self, "undone"):
            self.undone.__exit__(None, None, None)

    # Both at once.

    def both(self, real, model) -> Any:
        """Both answer, or both refuse with the same code."""
        expected, code = None, ""
        try:
            expected = model()
        except Refused as refused:
            code = str(refused)
        if not code:
            return real(), expected
        with pytest.raises(DomainError) as raised:
            real()
        assert raised.value.code == code
        return None

    def card(self, number):
        place = number % len(self.cards)
        return self.cards[place], self.model.cards[place]

    def lease(self, number):
        """Mostly one of the latest, which may still be held."""
        place = len(self.leases) - 1 - number % min(len(self.leases), 8)
        held = {"lease_id": self.leases[place], "lease_token": self.tokens[place]}
        lease = self.model.leases[place]
        return self.workers[lease.holder], held, lease

    # Time.

    @rule(seconds=st.sampled_from([100, 300, 1000, 1000, 30000]))
    def time_passes(self, seconds):
        self.model.now += seconds
        moved = ", ".join(
            f"{name} = {name} - %(by)s * interval '1 second'"
            for name in (
                *("acquired_at", "expires_at", "renewed_at", "ended_at"),
                *("cancel_requested_at", "cancel_told_at"),
            )
        )
        for text in (
            f"UPDATE leases_lease SET {moved} WHERE board_id = %(board)s",
            "UPDATE boards_card SET"
            " available_at = available_at - %(by)s * interval '1 second',"
            " waits_since = waits_since - %(by)s * interval '1 second'"
            " WHERE board_id = %(board)s"
            " AND COALESCE(available_at, waits_since) IS NOT NULL",
        ):
            with connection.cursor() as cursor:
                cursor.execute(text, {"by": seconds, "board": self.world.board})

    def _create(self, column, priority, assignee, good, skill=""):
        card = reference.Card(
            priority=priority, assignee=assignee, good=good, skill=skill
        )
        self.model.cards.append(card)
        self.model.enter(card, column)
        self.cards.append(
            self.world.add(
                column=self.ids[column],
                priority=priority,
                assignee=assignee and self.workers[assignee].handle,
                skills=[skill] if skill else [],
                payload=GOOD if good else BAD,
            )
        )

    def _set(self, column, terms, force):
        wanted = Terms(
            enabled=terms.enabled,
            paused=terms.paused,
            lease_ttl_seconds=terms.seconds,
            max_attempts=terms.max_attempts,
            backoff_seconds=list(terms.backoff),
            on_success_column_id=terms.success and self.ids[terms.success],
            on_failure_column_id=terms.failure and self.ids[terms.failure],
            concurrency_limit=terms.limit,
            input_schema=SCHEMA if terms.strict else None,
        )
        self.both(
            lambda: set_contract(
                self.owner,
                board_id=self.world.board,
                column_id=self.ids[column],
                terms=wanted,
                force=force,
            ),
            lambda: self.model.set_terms(column, terms, force),
        )
