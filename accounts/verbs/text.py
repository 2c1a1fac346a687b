"""What a name of a person, a token or a workspace must be."""

from accounts.blank import is_blank
from accounts.errors import FieldError
from accounts.verbs.agents import MAX_NAME_CHARACTERS


def visible_name(text: str, pointer: str = "/name") -> tuple[str, list[FieldError]]:
    """The name without blanks around it, and what is wrong with it."""
    long = len(text) > MAX_NAME_CHARACTERS
    text = text.strip()
    if long or is_blank(text) or not text.isprintable():
        detail = f"A name has 1 to {MAX_NAME_CHARACTERS} characters that can be seen."
        return text, [FieldError(pointer, "bad_name", detail)]
    return text, []
