"""What a name or a title must be."""

from typing import Annotated

from accounts.blank import is_blank
from accounts.errors import Invalid
from accounts.told import told

MAX_NAME_CHARACTERS = 100
MAX_TITLE_CHARACTERS = 500

Name = Annotated[str, told(minLength=1, maxLength=MAX_NAME_CHARACTERS)]
Title = Annotated[str, told(minLength=1, maxLength=MAX_TITLE_CHARACTERS)]


def name_of(text: str, pointer: str = "/name") -> str:
    return _visible(text, pointer, MAX_NAME_CHARACTERS)


def title_of(text: str, pointer: str = "/title") -> str:
    return _visible(text, pointer, MAX_TITLE_CHARACTERS)


def _visible(text: str, pointer: str, limit: int) -> str:
    """As given, but without blanks around it. Raises Invalid when there is nothing to
    see in it (zero-width characters alone) or too much, with the blanks."""
    if is_blank(text.strip()):
        raise Invalid.at(pointer, "blank", "Say something that can be seen.")
    if len(text) > limit:
        raise Invalid.at(pointer, "too_long", f"At most {limit} characters.")
    return text.strip()
