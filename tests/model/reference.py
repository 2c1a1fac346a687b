"""The lease engine in plain Python: what the real one is compared with.

One caller at a time, a clock that is moved by hand (seconds), no database. Leases that
ran out and cards that came due are noticed where the real engine notices them too: at
the next claim from their column, or by the reaper.
"""

from dataclasses import dataclass, field

# How long a holder who doesn't call is waited for, how often a card may wait for a
# quota, and how long after the first time.
GRACE, MOST_PAUSES, PAUSES_SECONDS = 60, 20, 6 * 3600
# What each worker can do that a card may ask for.
SKILLS = {"ann": {"", "seo"}, "bob": {""}}


class Refused(Exception):
    """With the code of the error that the real engine must raise."""


@dataclass
class Terms:
    enabled: bool = True
    paused: bool = False
    max_attempts: int = 3
    backoff: tuple[int, ...] = ()
    limit: int | None = None
    seconds: int = 250
    success: str | None = None
    failure: str | None = None
    strict: bool = False  # with a schema that refuses bad cards


@dataclass(eq=False)
class Card:
    column: str = ""
    priority: int = 3
    assignee: str | None = None
    skill: str = ""
    good: bool = True
    state: str = ""
    attempts: int = 0
    due: int | None = None
    fits: bool | None = True
    archived: bool = False
    cancelled: bool = False
    pauses: int = 0
    paused_at: int | None = None  # the first time
    leases: list["Lease"] = field(default_factory=list)

    def waits(self) -> bool:
        return (self.state, self.archived, self.due is None) == ("open", False, False)

    def ready(self) -> bool:
        facts = (self.state, self.archived, self.due, self.fits)
        return facts == ("open", False, None, True)


@dataclass(eq=False)
class Lease:
    card: Card
    holder: str
    column: str
    seconds: int
    expires: int
    attempt: int
    state: str = "active"
    outcome: str = ""
    asked: int | None = None  # when the holder was asked to stop
    told: bool = False


class Reference:
    def __init__(self, columns: tuple[str, ...]) -> None:
        self.now = 0
        self.cards: list[Card] = []
        self.leases: list[Lease] = []
        self.terms = {column: Terms(enabled=False) for column in columns}
        self.order: dict[str, list[Card]] = {column: [] for column in columns}
        self.seats: dict[str, int | None] = dict.fromkeys(SKILLS)

    def on(self, column: str) -> list[Card]:
        return [card for card in self.cards if card.column == column]

    def shown(self, column: str) -> list[Card]:
        return sorted(self.order[column], key=lambda card: card.priority)

    def live(self, column: str) -> list[Lease]:
        return [x for x in self.leases if (x.state, x.column) == ("active", column)]

    # Where a card stands, and what it is there.

    def put(self, card: Card, column: str, index: int | None = None) -> None:
        if card in self.order.get(card.column, ()):
            self.order[card.column].remove(card)
        card.column, order = column, self.order[column]
        if not card.archived:
            order.insert(len(order) if index is None else index, card)

    def enter(self, card: Card, column: str) -> None:
        self.put(card, column)
        if self.terms[column].enabled:
            card.state, card.attempts = "open", 0
            card.cancelled, card.pauses, card.paused_at = False, 0, None
        elif card.state not in ("done", "failed"):
            card.state = ""
        self.judge_again(card)

    def judge_again(self, card: Card) -> None:
        terms = self.terms[card.column]
        card.fits = None if terms.enabled and terms.strict else True

    def judge(self, column: str) -> None:
        for card in self.on(column):
            if card.state == "open" and card.fits is None and not card.archived:
                card.fits = card.good

    def fail_for_good(self, card: Card, column: str) -> None:
        card.state = "failed"
        if failure := self.terms[column].failure:
            self.put(card, failure)

    def dead_letter_exhausted(self, column: str) -> None:
        for card in self.on(column):
            if card.ready() and card.attempts >= self.terms[column].max_attempts:
                self.fail_for_good(card, column)

    # How a lease ends. `wanted`: the holder has ended it so before.

    def held(self, lease: Lease, wanted: str = "", *, gives_up: bool = False) -> bool:
        if lease.state == wanted:
            return False
        heard = lease.told or (gives_up and lease.asked is not None)
        if lease.state == "active" and heard:
            self.call_off(lease)
        if lease.state != "active" or lease.expires <= self.now:
            raise Refused("lease_lost")
        return True

    def give_back(self, lease: Lease, state: str, again: bool, delay: int) -> None:
        card, lease.state = lease.card, state
        lease.outcome = "requeued" if again else "dead_lettered"
        card.attempts -= state in ("released", "revoked")
        card.state, card.due = "open", self.now + delay if again and delay else None
        if not again:
            self.fail_for_good(card, lease.column)

    def call_off(self, lease: Lease) -> None:
        card, lease.state, lease.outcome = lease.card, "revoked", "cancelled"
        card.state, card.cancelled = "failed", True
        card.attempts -= 1

    def call_off_overdue(self, column: str) -> None:
        for lease in self.live(column):
            if lease.asked is not None and lease.expires <= self.now:
                self.call_off(lease)

    def tidy(self, column: str) -> None:
        self.call_off_overdue(column)
        for lease in self.live(column):
            if lease.expires <= self.now:
                left = lease.card.attempts < self.terms[column].max_attempts
                self.give_back(lease, "expired", left, 0)
        for card in self.on(column):
            if card.waits() and card.due <= self.now:
                card.due = None

    # The verbs.

    def claim(self, who: str, column: str, count: int, seconds: int | None) -> list:
        return self.take_next(who, column, self.room(who, count), seconds)

    def room(self, who: str, count: int) -> int:
        most, mine = self.seats[who], [x for x in self.leases if x.holder == who]
        held = [x for x in mine if x.state == "active" and x.expires > self.now]
        if most is not None and len(held) >= most:
            raise Refused("seat_at_capacity")
        return count if most is None else min(count, most - len(held))

    def take_next(self, who: str, column: str, count: int, seconds: int | None):
        terms = self.terms[column]
        if not terms.enabled:
            raise Refused("not_a_queue")
        if terms.paused:
            return []
        self.tidy(column)
        self.judge(column)
        if count > 1 and self.keeps_some_for(who, column):
            return self.claim_in_turn(who, column, count, seconds)
        while found := self.candidates(who, column, count):
            if taken := [card for card in found if card.attempts < terms.max_attempts]:
                return [self.take(card, who, seconds) for card in taken]
            self.dead_letter_exhausted(column)
        return []

    def keeps_some_for(self, who: str, column: str) -> bool:
        return any(c.ready() and c.assignee == who for c in self.on(column))

    def claim_in_turn(self, who: str, column: str, count: int, seconds: int | None):
        got: list[Lease] = []
        while len(got) < count and (one := self.take_next(who, column, 1, seconds)):
            got += one
        return got

    def candidates(self, who: str, column: str, count: int) -> list[Card]:
        limit, live = self.terms[column].limit, len(self.live(column))
        room = count if limit is None else min(count, max(0, limit - live))
        ready = [card for card in self.shown(column) if card.ready()]
        return [card for card in ready if self.is_for(card, who)][:room]

    def is_for(self, card: Card, who: str) -> bool:
        return card.assignee in (None, who) and card.skill in SKILLS[who]

    def claim_card(self, who: str, card: Card, seconds: int | None) -> Lease:
        column, terms = card.column, self.terms[card.column]
        if card.state == "claimed" and card.leases[-1].expires <= self.now:
            self.tidy(column)
        if card.state == "open" and card.fits is None and not card.archived:
            card.fits = card.good
        self.room(who, 1)
        column, terms = card.column, self.terms[card.column]
        if card.state == "open" and card.attempts >= terms.max_attempts:
            self.dead_letter_exhausted(column)
            raise Refused("not_claimable")
        waits = card.due is not None and card.due > self.now
        full = terms.limit is not None and len(self.live(column)) >= terms.limit
        ready = (card.state, card.archived, card.fits) == ("open", False, True)
        if not ready or waits or terms.paused or full or not self.is_for(card, who):
            raise Refused("not_claimable")
        card.due = None
        return self.take(card, who, seconds)

    def take(self, card: Card, who: str, seconds: int | None) -> Lease:
        card.state, card.attempts = "claimed", card.attempts + 1
        long = seconds or self.terms[card.column].seconds
        lease = Lease(card, who, card.column, long, self.now + long, card.attempts)
        card.leases.append(lease)
        self.leases.append(lease)
        return lease

    def reason(self, column: str) -> str:
        terms = self.terms[column]
        if terms.paused:
            return "paused"
        if terms.limit is not None and len(self.live(column)) >= terms.limit:
            return "at_capacity"
        return "waiting" if any(c.waits() for c in self.order[column]) else "drained"

    def reap(self) -> None:
        for lease in self.leases:
            late = lease.asked is not None and lease.asked + GRACE <= self.now
            if lease.state == "active" and late:
                self.call_off(lease)
        for column, terms in self.terms.items():
            self.tidy(column)
            if terms.enabled:
                self.judge(column)

    def renew(self, lease: Lease) -> None:
        self.held(lease)
        lease.expires = self.now + lease.seconds
        lease.told = lease.asked is not None

    def complete(self, lease: Lease) -> None:
        if not self.held(lease, "completed"):
            return
        card, target = lease.card, self.terms[lease.column].success
        lease.state = "completed"
        card.state, card.fits = "done", True
        if target:
            self.put(card, target)
            self.judge_again(card)
            if self.terms[target].enabled:
                card.state, card.attempts, card.assignee = "open", 0, None
                card.pauses, card.paused_at = 0, None

    def fail(self, lease: Lease, *, requeue: bool, after: int | None) -> None:
        if self.held(lease, "failed", gives_up=True):
            terms, attempts = self.terms[lease.column], lease.card.attempts
            steps = terms.backoff or (0,)
            delay = steps[min(attempts, len(steps)) - 1] if after is None else after
            again = requeue and attempts < terms.max_attempts
            self.give_back(lease, "failed", again, delay)

    def fail_until(self, lease: Lease, after: int) -> None:
        card = lease.card
        began = self.now if card.paused_at is None else card.paused_at
        if card.pauses >= MOST_PAUSES or self.now >= began + PAUSES_SECONDS:
            self.fail(lease, requeue=True, after=after)
        elif self.held(lease, "failed", gives_up=True):
            card.attempts, card.pauses = card.attempts - 1, card.pauses + 1
            card.paused_at = began
            self.give_back(lease, "failed", True, after)

    def release(self, lease: Lease) -> None:
        if self.held(lease, "released", gives_up=True):
            self.give_back(lease, "released", True, 0)

    def revoke(self, lease: Lease) -> None:
        if lease.state not in ("active", "revoked"):
            raise Refused("lease_lost")
        if lease.state == "active" and lease.asked is not None:
            self.call_off(lease)
        elif lease.state == "active":
            self.give_back(lease, "revoked", True, 0)

    def cancel(self, card: Card) -> None:
        if card.state == "claimed":
            lease = card.leases[-1]
            lease.asked = self.now if lease.asked is None else lease.asked
            if lease.expires <= self.now:
                self.call_off(lease)
        elif card.state == "open":
            card.state, card.cancelled, card.due = "failed", True, None
        elif not card.cancelled:
            raise Refused("not_cancellable")

    def free(self, card: Card, force: bool) -> None:
        if card.state == "claimed":
            if not force:
                raise Refused("card_held")
            self.revoke(card.leases[-1])

    def requeue(self, card: Card) -> None:
        self.free(card, force=False)
        if card.state == "":
            raise Refused("not_requeueable")
        queue = card.leases[-1].column if card.leases else card.column
        if card.state != "open":
            if not self.terms[queue].enabled:
                raise Refused("conflict")
            card.due = None
            self.enter(card, queue)

    def set_terms(self, column: str, new: Terms, force: bool) -> None:
        old, cards = self.terms[column], self.on(column)
        if old.enabled and not new.enabled:
            self.switch_off(column, force)
        self.terms[column] = new
        for card in cards if new.enabled else ():
            if not old.enabled:
                self.open(card)
            if not old.enabled or old.strict != new.strict:
                self.judge_again(card)
        if new.enabled and new.max_attempts < old.max_attempts:
            self.dead_letter_exhausted(column)

    def switch_off(self, column: str, force: bool) -> None:
        if self.live(column) and not force:
            raise Refused("cards_held")
        for lease in self.live(column):
            self.revoke(lease)
        for card in self.on(column):
            card.state = "" if card.state == "open" else card.state

    def open(self, card: Card) -> None:
        here = (card.column, "completed")
        finished = any((x.column, x.state) == here for x in card.leases)
        if card.state == "" or (card.state == "done" and not finished):
            card.state, card.attempts = "open", 0
