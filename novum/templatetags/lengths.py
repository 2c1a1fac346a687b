"""Lengths of time in as few characters as tell them apart."""

from django import template

register = template.Library()

NOTHING = "\u2013"
_LARGE = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "m"), (60, "m", 1, "s"))


@register.filter
def brief(seconds: float | None) -> str:
    """ "350 ms", "2.4 s", "42 s", "5m 10s", "3d 4h"; a dash for nothing."""
    if seconds is None:
        return NOTHING
    if seconds < 0.9995:
        return f"{round(seconds * 1000)} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    size, unit, part, small = next(one for one in _LARGE if whole >= one[0])
    rest = whole % size // part
    return f"{whole // size}{unit}" + (f" {rest}{small}" if rest else "")


@register.filter
def percent(share: float | None) -> str:
    """Of a share of one; a dash for nothing. Never 100 where something is missing."""
    if share is None:
        return NOTHING
    if 0.995 <= share < 1:
        return f"{min(share * 100, 99.9):.1f} %"
    return f"{share * 100:.0f} %"
