"""What a name or a title must be."""

from accounts.blank import is_blank
from accounts.errors import Invalid

MAX_NAME_CHARACTERS = 100
MAX_TITLE_CHARACTERS = 500


def name_of(text: str, pointer: str = "/name") -> str:
    return _visible(text, pointer, MAX_NAME_CHARACTERS)


def title_of(text: str, pointer: str = "/title") -> str:
    return _visible(text, pointer, MAX_TITLE_CHARACTERS)


def _visible(text: str, pointer: str, limit: int) -> str:
    """As given, but without blanks around it. Raises Invalid when there is nothing to
    see in it (zero-width characters alone) or too much."""
    text = text.strip()
    if is_blank(text):
        raise Invalid.at(pointer, "blank", "Say something that can be seen.")
    if len(text) > limit:
        raise Invalid.at(pointer, "too_long", f"At most {limit} characters.")
    return text
