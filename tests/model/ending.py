"""What a holder does with a lease, and the reaper."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from accounts.errors import DomainError
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.reap import reap
from leases.verbs.renew import renew
from tests.builders import snapshot
from tests.model.both import ANY, Both

HOLDERS_VERBS = (renew, complete, fail, release)


class Ending(Both):
    def by_holder(self, lease, real, model):
        """Both, and an ended lease's receipt changes nothing, nor does one that has run
        out (but that who was asked to stop has heard it)."""
        ran_out = lease.expires <= self.model.now and lease.asked is None
        over = lease.state != "active" or ran_out
        before = snapshot(self.world) if over else None
        answers = self.both(real, model)
        assert not over or snapshot(self.world) == before
        return answers

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
        self.by_holder(lease, lambda: real(who, **held), lambda: model(lease))

    @precondition(lambda self: self.leases)
    @rule(number=ANY)
    def renew(self, number):
        who, held, lease = self.lease(number)
        answers = self.by_holder(
            lease, lambda: renew(who, **held), lambda: self.model.renew(lease)
        )
        if answers:
            renewed, _ = answers
            assert renewed.expires_at > renewed.server_time
            assert renewed.cancel_requested == lease.told

    @precondition(lambda self: self.leases)
    @rule(number=ANY, output=st.sampled_from([None, "text"]))
    def complete(self, number, output):
        who, held, lease = self.lease(number)
        before = lease.state
        answers = self.by_holder(
            lease,
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
        answers = self.by_holder(
            lease,
            lambda: fail(who, **held, requeue=requeue, retry_after_seconds=after),
            lambda: self.model.fail(lease, requeue=requeue, after=after),
        )
        assert not answers or answers[0].replayed == (before == "failed")

    @precondition(lambda self: self.leases)
    @rule(number=ANY, after=st.sampled_from([0, 250]))
    def wait_for_a_quota(self, number, after):
        who, held, lease = self.lease(number)
        how = {"kind": "wait_until", "retry_after_seconds": after}
        self.by_holder(
            lease,
            lambda: fail(who, **held, **how),
            lambda: self.model.fail_until(lease, after),
        )

    @precondition(lambda self: self.leases)
    @rule(number=ANY)
    def release(self, number):
        who, held, lease = self.lease(number)
        self.by_holder(
            lease, lambda: release(who, **held), lambda: self.model.release(lease)
        )

    @precondition(lambda self: self.leases)
    @rule(number=ANY, verb=st.sampled_from(HOLDERS_VERBS))
    def use_a_wrong_receipt(self, number, verb):
        who, held, _ = self.lease(number)
        wrong = {**held, "lease_token": held["lease_token"][:-1] + "!"}
        before = snapshot(self.world)
        with pytest.raises(DomainError) as refused:
            verb(who, **wrong)
        assert refused.value.code == "lease_lost"
        assert snapshot(self.world) == before

    @rule()
    def reap(self):
        reap()
        self.model.reap()
