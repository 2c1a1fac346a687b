from accounts.errors import Conflict, FieldError, NotFound


class UnknownQueue(NotFound):
    """There is no such queue here."""

    code = "unknown_queue"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no queue {name!r} here.")
        self.errors = [FieldError("/queue", self.code, self.detail)]


class QueueOff(Conflict):
    """This queue is switched off: the contract of its column isn't enabled."""

    code = "not_a_queue"


class NotHeld(Conflict):
    """You don't hold this task. Stop working on it."""

    code = "conflict"


class AlreadyHeld(Conflict):
    """Somebody else is working on this task."""

    code = "conflict"
