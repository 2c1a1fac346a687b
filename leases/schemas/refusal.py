"""The error of a schema we do not take."""

from collections.abc import Iterable

from leases.schemas.pointers import pointer


class BadSchema(Exception):
    """A schema that cannot be accepted: where (a JSON Pointer) and why."""

    def __init__(self, path: Iterable[str | int], detail: str) -> None:
        self.pointer = pointer(path)
        self.detail = detail
        super().__init__(f"{self.pointer or '#'}: {detail}")
