"""What an installed app brings to the doors, where novum doesn't know it.

Its AppConfig names modules: `operations` (OPERATIONS), `pages` (urlpatterns, entries),
`timetable` (TIMETABLE for beat), `document` (`extend` for the OpenAPI document), `needs`
(see novum.needs), `metrics` (`collect` for /metrics). So an app that nothing depends on
goes with its folder and its line in INSTALLED_APPS.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from django.apps import apps


@dataclass(frozen=True)
class Entry:
    """One more in the top bar: `name` as `nav` of its pages has it, `url` by name, and
    a number of things to look after (0: nothing)."""

    name: str
    url: str
    label: Any
    icon: str
    alarm: int = 0


def parts(kind: str) -> Iterator[ModuleType]:
    """The modules that installed apps name under `kind`."""
    for config in apps.get_app_configs():
        name = getattr(config, kind, None)
        if isinstance(name, str):
            yield import_module(name)
