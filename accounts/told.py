"""Limits as a schema tells them, from the numbers that the verbs check."""

from typing import Annotated

from msgspec import Meta

# With the @ that may stand in front.
MAX_HANDLE_CHARACTERS = 1 + 39


def told(**limits: int | str) -> Meta:
    """For a limit that the verb itself refuses, in words and with a code of its own:
    it's told (`maxLength`, `maximum`, …), and the conversion lets it through. What no
    verb refuses is given to `Meta` itself."""
    return Meta(extra_json_schema=limits)


Handle = Annotated[
    str,
    Meta(max_length=MAX_HANDLE_CHARACTERS, extra_json_schema={"format": "handle"}),
]
