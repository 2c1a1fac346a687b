class StartError(Exception):
    """Something cannot start; the message says what, and what to do about it."""
