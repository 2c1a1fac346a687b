import time
from collections.abc import Callable


def eventually(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until it holds; the machine may be busy, so the wait is long."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "that never came"
        time.sleep(0.02)
