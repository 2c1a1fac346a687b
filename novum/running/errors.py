class StartError(Exception):
    """Something cannot start; the message says what, and what to do about it."""


class Interrupted(Exception):
    """Somebody wants everything to stop, while it was still starting."""
