"""The real engine against the reference (reliability notes, T1)."""

import os

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import Engine

# Together 200, the same ones each time. By night: NOVUM_EXAMPLES=3000. NOVUM_SHRINK=1
# takes its time to find the shortest row of verbs that fails.
PARTS = 4
EXAMPLES = int(os.environ.get("NOVUM_EXAMPLES", "200")) // PARTS
STEPS = 50
PHASES = set(Phase) if os.environ.get("NOVUM_SHRINK") else {Phase.generate}


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(max(600, 10 * EXAMPLES))
@pytest.mark.parametrize("part", range(PARTS))
def test_any_row_of_verbs_ends_as_in_the_reference(part):
    run_state_machine_as_test(
        seed(part)(type("Engine", (Engine,), {})),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            database=None,
            deadline=None,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        ),
    )
