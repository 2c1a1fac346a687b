"""What a queue's figures say, from rolled-up minutes."""

from datetime import timedelta

from leases.reads import server_time
from supervision.models import QueueFigures
from supervision.stats.queues import one_queue


def test_the_rate_is_of_the_last_minutes_and_the_one_under_way(world):
    """A fleet that has just begun works, and doesn't seem to stand still."""
    minute = server_time().replace(second=0, microsecond=0)
    for back, completed in ((0, 9), (3, 40), (7, 100)):
        QueueFigures.objects.create(
            column_id=world.queue,
            span=60,
            start=minute - timedelta(minutes=back),
            completed=completed,
        )
    found = one_queue(world.owner, column_id=world.queue)
    assert 49 / 5 <= found.completed_per_minute <= 49 / 4
    assert found.failed_per_minute == 0
