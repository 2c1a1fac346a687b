"""What the server takes as text: no NUL, no half characters, not too long."""

MOST_CHARACTERS, MOST_IN_A_LINE = 2000, 200


def clean(text: str, most: int = MOST_CHARACTERS) -> str:
    whole = (
        text.encode("utf-8", "replace")
        .decode()
        .replace("\0", "\N{REPLACEMENT CHARACTER}")
    )
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def line(text: str) -> str:
    return clean(" ".join(text.split()), MOST_IN_A_LINE)
