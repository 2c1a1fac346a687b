"""Any row of verbs, given to the real engine and to the reference alike: one by one, and
in the rows that most of the traffic is made of.
"""

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.model.both import ANY, ENDS, WORKERS
from tests.model.claiming import Claiming
from tests.model.comparing import Comparing
from tests.model.ending import Ending
from tests.model.people import People


class Engine(People, Claiming, Ending, Comparing):
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
