"""Positions in a column: whole numbers with room between them.

An appended card takes the next value of one database sequence times `GAP`, so appending
needs no lock and never collides. A card put between two others takes the middle; after
24 halvings of one gap the neighbours are spread again (`spread`). Floats would tie
after 52 halvings, text keys would grow without end.
"""

GAP = 1 << 24
# A signed 64-bit column: 5 * 10^11 appends, as many moves to the top.
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


def between(before: int | None, after: int | None) -> int | None:
    """A free position between two neighbours (None = open end at the top).

    None when there is no room left between them: `spread` first.
    """
    if before is None and after is None:
        return 0
    if before is None:
        assert after is not None
        return after - GAP
    assert after is not None, "appending takes its position from the sequence"
    middle = (before + after) // 2
    return middle if before < middle < after else None


def spread(lower: int, upper: int, count: int) -> list[int] | None:
    """`count` rising positions strictly between two bounds, evenly far apart.

    None when the steps would be too small to be worth it (fewer than 2^8 between
    neighbours): take a wider window.
    """
    step = (upper - lower) // (count + 1)
    if step < 1 << 8:
        return None
    return [lower + step * (i + 1) for i in range(count)]
