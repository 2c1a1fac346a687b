"""From a queue's name to its column."""

from typing import Any

from novum.cli.catalog import meant
from novum.cli.errors import NOT_FOUND, Failure
from novum.cli.session import Session


class NoQueue(Failure):
    code = NOT_FOUND


def column_of(session: Session, name: str) -> dict[str, Any]:
    """`board_id` and `column_id`. Raises NoQueue."""
    queues = session.call("tasks.queues")["items"]
    for each in queues:
        if each["name"] == name:
            return dict(each)
    close = meant(name, [each["name"] for each in queues])
    raise NoQueue(f"There is no queue {name} here.{close}")
