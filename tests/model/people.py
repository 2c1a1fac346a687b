"""What people do meanwhile."""

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from boards.verbs.cards import archive_card, edit_card, restore_card
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.verbs.cancel import request_cancel
from leases.verbs.requeue import requeue
from leases.verbs.revoke import free, revoke, stop_agent
from tests.model.both import ANY, BAD, COLUMN, FORCE, GOOD, TERMS, WORKERS, Both
from tests.model.reference import Refused


class People(Both):
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
