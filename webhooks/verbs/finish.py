"""What came of tries: written for many at once, by the marks they were taken with."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from uuid import UUID

from django.db import connection, transaction

from webhooks import conf
from webhooks.models import Delivery, Endpoint
from webhooks.sending.post import Answer
from webhooks.verbs.switch_off import switch_off, switch_off_failing
from webhooks.verbs.take import Taken

INTERRUPTED = Answer(problem="interrupted")
GONE = 410

_FINISH = """
WITH told AS MATERIALIZED (
  SELECT * FROM unnest(%(ids)s::uuid[], %(marks)s::uuid[], %(states)s::text[],
    %(delays)s::float8[], %(counted)s::int[], %(statuses)s::int[], %(problems)s::text[],
    %(times)s::timestamptz[], %(milliseconds)s::int[], %(answers)s::text[])
  AS t (id, mark, state, delay, counted, status, problem, at, milliseconds, answer)
), done AS (
  UPDATE webhooks_delivery d SET state = t.state, taken = NULL,
    attempts = d.attempts + 1, tries = d.tries + t.counted, status = t.status,
    problem = t.problem,
    due_at = clock_timestamp() + make_interval(secs => t.delay),
    ended_at = CASE WHEN t.state <> 'pending' THEN clock_timestamp() END
  FROM told t WHERE d.id = t.id AND d.taken = t.mark
  RETURNING d.id, d.attempts
)
INSERT INTO webhooks_attempt
  (delivery_id, number, at, milliseconds, status, problem, answer)
SELECT done.id, done.attempts, t.at, t.milliseconds, t.status, t.problem, t.answer
FROM done JOIN told t USING (id)
RETURNING delivery_id
"""
_TALLY = """
INSERT INTO webhooks_tally (endpoint_id, hour, delivered, failed)
SELECT t.endpoint, date_trunc('hour', clock_timestamp()), t.delivered, t.failed
FROM unnest(%s::uuid[], %s::int[], %s::int[]) AS t (endpoint, delivered, failed)
JOIN webhooks_endpoint e ON e.id = t.endpoint ORDER BY t.endpoint
ON CONFLICT (endpoint_id, hour) DO UPDATE SET
  delivered = webhooks_tally.delivered + EXCLUDED.delivered,
  failed = webhooks_tally.failed + EXCLUDED.failed
"""


@dataclass(frozen=True)
class Tried:
    """A delivery that was taken, when it was tried, and the answer."""

    taken: Taken
    at: datetime
    answer: Answer

    @property
    def is_good(self) -> bool:
        return self.answer.status is not None and 200 <= self.answer.status < 300

    @property
    def is_counted(self) -> bool:
        return self.answer is not INTERRUPTED


@transaction.atomic
def finish(tried: Sequence[Tried]) -> int:
    """How many of them were still ours to finish: one whose time had run out is
    somebody else's by now, and is tried again."""
    outcomes = [_outcome(one) for one in tried]
    with connection.cursor() as cursor:
        cursor.execute(
            _FINISH,
            {
                "ids": [one.taken.id for one in tried],
                "marks": [one.taken.mark for one in tried],
                "states": [state for state, _ in outcomes],
                "delays": [delay for _, delay in outcomes],
                "counted": [int(one.is_counted) for one in tried],
                "statuses": [one.answer.status for one in tried],
                "problems": [one.answer.problem for one in tried],
                "times": [one.at for one in tried],
                "milliseconds": [int(one.answer.seconds * 1000) for one in tried],
                "answers": [one.answer.text for one in tried],
            },
        )
        finished = {row[0] for row in cursor.fetchall()}
    _tell_endpoints([one for one in tried if one.taken.id in finished])
    return len(finished)


def _outcome(one: Tried) -> tuple[str, float | None]:
    """The delivery's state now, and in how many seconds it's due again."""
    if not one.is_counted:
        return Delivery.State.PENDING, 0.0
    if one.is_good:
        return Delivery.State.DELIVERED, None
    tries = one.taken.tries + 1
    if tries >= len(conf.SCHEDULE):
        return Delivery.State.FAILED, None
    pause = conf.SCHEDULE[tries] * random.uniform(1 - conf.JITTER, 1 + conf.JITTER)
    return Delivery.State.PENDING, max(pause, retry_after(one.answer.retry_after))


def retry_after(text: str) -> float:
    """Seconds, from either form of the header (RFC 9110, 10.2.3); 0 for anything else."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        seconds = float(text)
    else:
        try:
            moment = parsedate_to_datetime(text)
        except (TypeError, ValueError):
            return 0.0
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return min(max(0.0, seconds), conf.MAX_RETRY_AFTER_SECONDS)


def _tell_endpoints(finished: Sequence[Tried]) -> None:
    """Their tallies, since when they fail, and those that are to be switched off."""
    counted = [one for one in finished if one.is_counted]
    good = Counter(one.taken.to.id for one in counted if one.is_good)
    bad = Counter(one.taken.to.id for one in counted if not one.is_good)
    _tally(good, bad)
    Endpoint.objects.filter(pk__in=list(good), failing_since__isnull=False).update(
        failing_since=None
    )
    only_bad = [one for one in bad if one not in good]
    if only_bad:
        failing = Endpoint.objects.filter(pk__in=only_bad, failing_since=None)
        failing.update(failing_since=min(one.at for one in counted))
        switch_off_failing(only_bad)
    gone = {one.taken.to.id for one in counted if one.answer.status == GONE}
    for endpoint_id in sorted(gone):
        switch_off(endpoint_id, Endpoint.Off.GONE)


def _tally(good: Counter[UUID], bad: Counter[UUID]) -> None:
    # In one order, so that two workers never wait for each other in a circle.
    endpoints = sorted({*good, *bad})
    if not endpoints:
        return
    with connection.cursor() as cursor:
        counts = [[good[one] for one in endpoints], [bad[one] for one in endpoints]]
        cursor.execute(_TALLY, [endpoints, *counts])
