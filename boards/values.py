"""When two JSON values are the same one."""

import json

# One line of what somebody is doing with a card.
MAX_DOING_CHARACTERS = 200


def same_json(one: object, other: object) -> bool:
    """Python calls `true`, 1 and 1.0 equal; in JSON they are three values."""
    return _canonical(one) == _canonical(other)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)
