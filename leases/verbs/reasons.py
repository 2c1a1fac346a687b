"""What people and agents say in words of how a lease ends or why a queue rests."""

from accounts.errors import FieldError, Invalid

MAX_REASON_CHARACTERS = 10_000


def too_long(field: str, text: str, most: int) -> list[FieldError]:
    """What is wrong with it; nothing where it fits."""
    if len(text) <= most:
        return []
    detail = f"{field} has at most {most:,} characters."
    return [FieldError(f"/{field}", "too_long", detail)]


def check_text(field: str, text: str, most: int = MAX_REASON_CHARACTERS) -> None:
    """Raises Invalid, rather than keep a part of it."""
    if errors := too_long(field, text, most):
        raise Invalid(errors=errors)
