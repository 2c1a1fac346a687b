"""What the worker does on its own for those who supervise."""

from typing import Any

TIMETABLE: dict[str, dict[str, Any]] = {}
