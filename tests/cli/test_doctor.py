"""novum doctor: asks the server, tells people, and ends with 1 where something is wrong."""

import pytest

from tests.doors.http import token_of

pytestmark = pytest.mark.processes


def test_it_tells_what_is_wrong_and_what_to_do(shell, world):
    done = shell("doctor", NOVUM_TOKEN=token_of(world.owner))
    # No worker runs beside these tests.
    assert done.code == 1, done.err
    assert "PROBLEM loops: reap: it never ran." in done.out
    assert "See whether worker and beat run" in done.out
    assert "ok      database: PostgreSQL" in done.out
    shell("doctor").failed(3)
    shell("doctor", NOVUM_TOKEN="").failed(2, "No token")
