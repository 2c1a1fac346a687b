"""Reap: tidy every column in which something is overdue, judge what is unjudged."""

from leases.verbs.cancel import end_overdue_cancelled
from leases.verbs.judge import judge
from leases.verbs.leaving import take_back_from_the_gone
from leases.verbs.tidy import BATCH, columns_to_judge, tidy, untidy_columns

MAX_BATCHES_PER_COLUMN = 50


def reap() -> int:
    """One pass; returns how many cards changed or were judged.

    Nothing depends on it: claims tidy their own column. It makes the board true while
    nobody asks. Safe when many run; bounded, so that one column can't keep the others
    waiting for ever.
    """
    done = end_overdue_cancelled() + take_back_from_the_gone()
    for column_id in untidy_columns():
        for _ in range(MAX_BATCHES_PER_COLUMN):
            changed = tidy(column_id)
            done += changed
            if changed < BATCH:
                break
    for column_id in columns_to_judge():
        done += judge(column_id)
    return done
