"""Any row of verbs, given to the real engine and to the reference alike.

Time is moved by moving what is stored back. All lengths are 50 modulo 100 seconds and
time moves in hundreds, so that the seconds a test really takes never decide anything;
and where they are many, what is still to come is moved on by as many.
"""

from dataclasses import replace
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import ExpressionWrapper, F, FloatField
from django.db.models.functions import Extract
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from accounts.errors import DomainError
from accounts.remembering import once
from boards.models import Card, ClockTimestamp
from boards.verbs.cards import archive_card, edit_card, restore_card
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.models import Lease
from leases.verbs.cancel import request_cancel
from leases.verbs.claim import again, claim, made
from leases.verbs.claim_card import claim_card
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.reap import reap
from leases.verbs.renew import renew
from leases.verbs.requeue import requeue
from leases.verbs.revoke import free, revoke, stop_agent
from leases.verbs.set_contract import Terms, set_contract
from tests.builders import a_world, an_agent
from tests.invariants import assert_sound
from tests.model import reference
from tests.model.reference import Reference, Refused

PATIENCE = timedelta(seconds=10)
COLUMNS = ("queue", "done", "failed")
GOOD, BAD = {"topic": "bees"}, "no object"
SCHEMA = {"properties": {"payload": {"type": "object"}}}
WORKERS = st.sampled_from(["ann", "bob"])
COLUMN = st.sampled_from(COLUMNS)
ANY = st.integers(0, 999)
ENDS = ("complete", "fail", "release", "wait")
HOLDERS_VERBS = (renew, complete, fail, release)
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


def _seconds(field):
    return ExpressionWrapper(
        Extract(F(field) - ClockTimestamp(), "epoch"), output_field=FloatField()
    )


class Engine(RuleBasedStateMachine):
    @initialize(terms=TERMS, cards=st.integers(2, 8))
    def begin(self, terms, cards):
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
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
        if hasattr(self, "atomic"):
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

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

    # People.

    @rule(
        column=st.sampled_from(["queue", "queue", "queue", "done"]),
        priority=st.sampled_from([1, 3, 3, 5]),
        assignee=st.sampled_from([None, None, None, "ann", "bob"]),
        skill=st.sampled_from(["", "", "seo"]),
        good=st.sampled_from([True, True, True, False]),
        number=st.sampled_from([1, 1, 3]),
    )
    def create(self, column, priority, assignee, skill, good, number):
        for _ in range(number):
            self._create(column, priority, assignee, good, skill)

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

    @precondition(lambda self: self.cards)
    @rule(
        number=ANY,
        priority=st.sampled_from([1, 3, 5]),
        assignee=st.sampled_from([None, None, "ann", "bob"]),
        good=st.sampled_from([True, True, False]),
    )
    def edit(self, number, priority, assignee, good):
        key, card = self.card(number)
        edit_card(
            self.owner,
            card_id=key,
            priority=priority,
            assignee=assignee and self.workers[assignee].handle,
            payload=GOOD if good else BAD,
        )
        now = (priority, assignee, good)
        if (card.priority, card.assignee, card.good) != now:
            card.priority, card.assignee, card.good = now
            self.model.judge_again(card)

    @precondition(lambda self: self.cards)
    @rule(number=ANY, column=COLUMN, force=FORCE)
    def move(self, number, column, force):
        key, card = self.card(number)

        def model():
            self.model.free(card, force)
            if card.column != column:
                self.model.enter(card, column)

        self.both(
            lambda: move_card(
                self.owner,
                card_id=key,
                column_id=self.ids[column],
                free=free(self.owner) if force else None,
            ),
            model,
        )

    @precondition(lambda self: self.cards)
    @rule(number=ANY, where=st.sampled_from(["top", "bottom", "before"]), other=ANY)
    def reorder(self, number, where, other):
        key, card = self.card(number)
        anchor, beside = self.card(other)

        def model():
            self.model.free(card, force=False)
            rest = [one for one in self.model.order[card.column] if one is not card]
            if where == "before" and beside not in rest:
                raise Refused("invalid")
            index = {"top": 0, "bottom": None}.get(where)
            if where == "before":
                index = rest.index(beside)
            self.model.put(card, card.column, index)

        place = Place(before=anchor) if where == "before" else Place(end=where)
        self.both(lambda: move_card(self.owner, card_id=key, place=place), model)

    @precondition(lambda self: self.cards)
    @rule(number=ANY, force=FORCE)
    def archive(self, number, force):
        key, card = self.card(number)

        def model():
            self.model.free(card, force)
            if not card.archived:
                self.model.order[card.column].remove(card)
            card.archived = True

        taken = free(self.owner) if force else None
        self.both(lambda: archive_card(self.owner, card_id=key, free=taken), model)

    @precondition(lambda self: any(card.archived for card in self.model.cards))
    @rule(number=ANY)
    def restore(self, number):
        archived = [n for n, card in enumerate(self.model.cards) if card.archived]
        key, card = self.card(archived[number % len(archived)])
        restore_card(self.owner, card_id=key)
        card.archived = False
        self.model.put(card, card.column)
        self.model.judge_again(card)

    @precondition(lambda self: self.cards)
    @rule(number=ANY)
    def requeue(self, number):
        key, card = self.card(number)
        self.both(
            lambda: requeue(self.owner, card_id=key), lambda: self.model.requeue(card)
        )

    @precondition(lambda self: self.cards)
    @rule(number=ANY)
    def cancel(self, number):
        self._cancel(*self.card(number))

    @rule(
        who=WORKERS,
        number=ANY,
        then=st.sampled_from(["", "renew", "late", "reap", "reap", *ENDS]),
    )
    def cancel_what_is_held(self, who, number, then):
        """And its holder hears it, or ends it before, or never calls again."""
        before = len(self.leases)
        self.claim(who, "queue", None, None)
        if len(self.leases) > before:
            number = 0
        elif not self.leases:
            return
        _, _, lease = self.lease(number)
        self._cancel(self.cards[self.model.cards.index(lease.card)], lease.card)
        if then in ENDS:
            self._end(then, number)
        elif then == "renew":
            self.renew(number)
            self._end("complete", number)
        elif then:
            self.time_passes(100 if then == "reap" else 1000)
            self.reap() if then == "reap" else self.claim("ann", "queue", None, None)

    def _cancel(self, key, card):
        self.both(
            lambda: request_cancel(self.owner, card_id=key),
            lambda: self.model.cancel(card),
        )

    @rule(who=WORKERS, most=st.sampled_from([None, None, 1, 2]))
    def limit_a_seat(self, who, most):
        self.workers[who] = replace(self.workers[who], max_leases=most)
        self.model.seats[who] = most

    @rule(column=st.sampled_from(["queue", "queue", "done"]), terms=TERMS, force=FORCE)
    def set_contract(self, column, terms, force):
        self._set(column, terms, force)

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

    # Workers.

    @rule(
        who=WORKERS,
        column=st.sampled_from(["queue", "queue", "queue", "done"]),
        count=st.sampled_from([None, None, 1, 3]),
        seconds=st.sampled_from([None, 450]),
    )
    def claim(self, who, column, count, seconds):
        answers = self.both(
            lambda: self._claim(who, column, count, seconds),
            lambda: self.model.claim(who, column, count or 1, seconds),
        )
        if answers:
            self._compare(*answers, column)

    def _claim(self, who, column, count, seconds):
        return claim(
            self.workers[who],
            board_id=self.world.board,
            column_id=self.ids[column],
            count=count,
            lease_ttl_seconds=seconds,
        )

    @precondition(lambda self: self.cards)
    @rule(who=WORKERS, number=ANY, seconds=st.sampled_from([None, 450]))
    def claim_a_card(self, who, number, seconds):
        self._claim_card(who, *self.card(number), seconds)

    def _claim_card(self, who, key, card, seconds=None):
        answers = self.both(
            lambda: claim_card(
                self.workers[who], card_id=key, lease_ttl_seconds=seconds
            ),
            lambda: self.model.claim_card(who, card, seconds),
        )
        if answers:
            answer, expected = answers
            self._compare(answer, [expected], card.column)

    def _compare(self, answer, expected, column):
        found = answer.claims or ([answer] if answer.card else [])
        assert [one.card.id for one in found] == [
            self.cards[self.model.cards.index(lease.card)] for lease in expected
        ]
        for one, lease in zip(found, expected, strict=True):
            assert one.lease.attempt == lease.attempt
            assert len(one.card.previous_attempts) == min(len(lease.card.leases) - 1, 5)
            self.leases.append(one.lease.id)
            self.tokens.append(one.lease_token)
        if not found:
            assert answer.reason == self.model.reason(column)

    @rule(
        who=WORKERS,
        ends=st.lists(
            st.sampled_from([*ENDS, "lapse", "hold"]),
            min_size=2,
            max_size=5,
        ),
    )
    def work(self, who, ends):
        """One card after the other, as a worker does; most of the traffic."""
        for end in ends:
            before = len(self.leases)
            self.claim(who, "queue", None, None)
            if len(self.leases) == before or end == "hold":
                continue
            if end == "lapse":
                self.time_passes(1000)
            else:
                self._end(end)
            self.the_cards_are_alike()

    @rule(who=WORKERS, number=ANY, verb=st.sampled_from(["renew", *ENDS]))
    def come_late(self, who, number, verb):
        """With a lease that has just run out, and that nobody has taken over."""
        before = len(self.leases)
        self.claim(who, "queue", None, None)
        if len(self.leases) > before:
            self.time_passes(1000)
            if verb == "renew":
                self.renew(0)
            else:
                self._end(verb)

    @rule(
        limits=st.lists(st.sampled_from([None, 1, 2, 3, 5]), min_size=2, max_size=3),
        number=ANY,
    )
    def change_the_limit(self, limits, number):
        """While cards are held: never passed, and reached again."""
        for limit in limits:
            terms = replace(self.model.terms["queue"], limit=limit)
            self._set("queue", terms, force=False)
            self.claim("ann", "queue", 3, None)
            if self.leases:
                self.release(number)

    def _end(self, how, number=0):
        who, held, lease = self.lease(number)
        if how == "wait":
            self.wait_for_a_quota(number, 250)
            return
        real = {"complete": complete, "fail": fail, "release": release}[how]
        model = {
            "complete": self.model.complete,
            "fail": lambda lease: self.model.fail(lease, requeue=True, after=None),
            "release": self.model.release,
        }[how]
        self.both(lambda: real(who, **held), lambda: model(lease))

    @rule(who=WORKERS, key=st.sampled_from(["one", "two"]))
    def claim_with_a_key(self, who, key):
        """Remembered: the same leases and receipts again, whatever became of them."""
        known = self.remembered.get((who, key))

        def model():
            return [] if known else self.model.claim(who, "queue", 1, None)

        answers = self.both(lambda: self._once(who, key), model)
        if answers and known:
            assert (answers[0].lease.id, answers[0].lease_token) == known
        elif answers:
            self._compare(*answers, "queue")
            if answers[0].card:
                found = (answers[0].lease.id, answers[0].lease_token)
                self.remembered[who, key] = found

    def _once(self, who, key):
        return once(
            self.workers[who],
            operation="claim",
            key=key,
            request=b"",
            make=lambda: self._claim(who, "queue", None, None),
            made_by=made,
            again=lambda ids: again(self.workers[who], ids, many=False),
        )

    @precondition(lambda self: self.leases)
    @rule(number=ANY)
    def renew(self, number):
        who, held, lease = self.lease(number)
        self.both(lambda: renew(who, **held), lambda: self.model.renew(lease))

    @precondition(lambda self: self.leases)
    @rule(number=ANY, output=st.sampled_from([None, "text"]))
    def complete(self, number, output):
        who, held, lease = self.lease(number)
        before = lease.state
        answers = self.both(
            lambda: complete(who, **held, output=output),
            lambda: self.model.complete(lease),
        )
        assert not answers or answers[0].replayed == (before == "completed")

    @precondition(lambda self: self.leases)
    @rule(
        number=ANY,
        requeue=st.sampled_from([True, True, True, False]),
        after=st.sampled_from([None, None, 0, 250]),
    )
    def fail(self, number, requeue, after):
        who, held, lease = self.lease(number)
        before = lease.state
        answers = self.both(
            lambda: fail(who, **held, requeue=requeue, retry_after_seconds=after),
            lambda: self.model.fail(lease, requeue=requeue, after=after),
        )
        assert not answers or answers[0].replayed == (before == "failed")

    @precondition(lambda self: self.leases)
    @rule(number=ANY, after=st.sampled_from([0, 250]))
    def wait_for_a_quota(self, number, after):
        who, held, lease = self.lease(number)
        how = {"kind": "wait_until", "retry_after_seconds": after}
        self.both(
            lambda: fail(who, **held, **how),
            lambda: self.model.fail_until(lease, after),
        )

    @precondition(lambda self: self.leases)
    @rule(number=ANY, times=st.integers(3, 23), seconds=st.sampled_from([0, 10000]))
    def wait_again_and_again(self, number, times, seconds):
        """Until it's too often, or too long, and counts."""
        _, _, lease = self.lease(number)
        key = self.cards[self.model.cards.index(lease.card)]
        for _ in range(times):
            if seconds:
                self.time_passes(seconds)
            before = len(self.leases)
            self._claim_card("bob", key, lease.card)
            if len(self.leases) == before:
                return
            self.wait_for_a_quota(0, 0)

    @precondition(lambda self: self.leases)
    @rule(number=ANY)
    def release(self, number):
        who, held, lease = self.lease(number)
        self.both(lambda: release(who, **held), lambda: self.model.release(lease))

    @precondition(lambda self: self.leases)
    @rule(number=ANY, verb=st.sampled_from(HOLDERS_VERBS))
    def use_a_wrong_receipt(self, number, verb):
        who, held, _ = self.lease(number)
        wrong = {**held, "lease_token": held["lease_token"][:-1] + "!"}
        with pytest.raises(DomainError) as refused:
            verb(who, **wrong)
        assert refused.value.code == "lease_lost"

    @precondition(lambda self: self.leases)
    @rule(number=ANY)
    def revoke(self, number):
        _, held, lease = self.lease(number)
        self.both(
            lambda: revoke(self.owner, lease_id=held["lease_id"]),
            lambda: self.model.revoke(lease),
        )

    @rule(who=WORKERS)
    def stop(self, who):
        live = [
            lease
            for lease in self.model.leases
            if (lease.state, lease.holder) == ("active", who)
        ]
        for lease in live:
            self.model.revoke(lease)
        agent = self.workers[who].actor_id
        assert stop_agent(self.owner, agent_id=agent) == len(live)

    @rule()
    def reap(self):
        reap()
        self.model.reap()

    # What must be true after every step.

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
