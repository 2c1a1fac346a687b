"""The real engine against the reference (reliability notes, T1)."""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import Engine

# More of them by night: NOVUM_EXAMPLES=3000. What fails fails again in the next run
# (derandomize); NOVUM_SHRINK=1 then takes its time to find the shortest row of verbs.
EXAMPLES = int(os.environ.get("NOVUM_EXAMPLES", "200"))
STEPS = 50
PHASES = set(Phase) if os.environ.get("NOVUM_SHRINK") else {Phase.generate}


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(max(600, 10 * EXAMPLES))
def test_any_row_of_verbs_ends_as_in_the_reference():
    run_state_machine_as_test(
        Engine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=True,
            database=None,
            deadline=None,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        ),
    )
