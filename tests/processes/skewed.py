"""The WSGI application on a machine whose clock is wrong by NOVUM_SKEW seconds.

Everything in it that could read the process's own clock is set ahead or back.
"""

import os
import time
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone
from uuid_utils import compat

SKEW = float(os.environ["NOVUM_SKEW"])
_now, _time, _uuid7 = timezone.now, time.time, compat.uuid7


def skewed_now() -> datetime:
    return _now() + timedelta(seconds=SKEW)


def skewed_time() -> float:
    return _time() + SKEW


def skewed_uuid7() -> UUID:
    """Its first 48 bits are a time in milliseconds (RFC 9562)."""
    milliseconds = int(skewed_time() * 1000)
    return UUID(int=milliseconds << 80 | _uuid7().int & (1 << 80) - 1)


timezone.now = skewed_now
time.time = skewed_time
compat.uuid7 = skewed_uuid7

from novum.wsgi import application  # noqa: E402, F401
