"""The WSGI application, with all the time that a busy machine's Redis may take.

Without an answer at once each process counts for itself, as it's meant to; where the sum
of all is to be judged, that would be chance.
"""

from novum import limits

limits.REDIS_TIMEOUT_SECONDS = 30.0

from novum.wsgi import application  # noqa: E402, F401
