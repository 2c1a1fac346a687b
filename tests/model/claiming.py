"""How workers come to their cards."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from accounts.remembering import once
from leases.verbs.claim import again, claim, made
from leases.verbs.claim_card import claim_card
from tests.model.both import ANY, WORKERS, Both


class Claiming(Both):
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
