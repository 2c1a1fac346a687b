"""Texts that show nothing."""

import re
import unicodedata

# Default_Ignorable_Code_Point of Unicode as far as no category of its own tells,
# and the blank Braille pattern.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f"
    "\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_INVISIBLE_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp", "Zs"))


def is_blank(text: str) -> bool:
    """Whether nothing of it can be seen: empty, spaces, joiners, fillers."""
    return all(
        unicodedata.category(character) in _INVISIBLE_CATEGORIES
        or _INVISIBLE.match(character)
        for character in text
    )
