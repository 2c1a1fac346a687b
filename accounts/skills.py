"""Skills: short names of what a worker can do and what a card asks for."""

from collections.abc import Iterable
from typing import Annotated

from accounts.errors import Invalid
from accounts.told import told

MAX_SKILLS, MAX_SKILL_CHARACTERS = 20, 50

Skills = Annotated[
    list[Annotated[str, told(minLength=1, maxLength=MAX_SKILL_CHARACTERS)]],
    told(maxItems=MAX_SKILLS),
]


def skills_of(names: Iterable[str], pointer: str) -> list[str]:
    """In small letters, each once, by name. Raises Invalid: the limits are those of the
    names as they were said."""
    said = list(names)
    skills = sorted({name.strip().lower() for name in said})
    long = any(len(name) > MAX_SKILL_CHARACTERS for name in said)
    if long or len(said) > MAX_SKILLS or not all(map(_is_skill, skills)):
        raise Invalid.at(
            pointer,
            "bad_skills",
            f"At most {MAX_SKILLS} skills of 1 to {MAX_SKILL_CHARACTERS} characters"
            " that can be seen, without commas.",
        )
    return skills


def _is_skill(name: str) -> bool:
    short = 1 <= len(name) <= MAX_SKILL_CHARACTERS
    return short and name.isprintable() and "," not in name
