"""Figures beside their goals: lines while it runs, a table at the end, JSON to keep."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Figure:
    """One ratio (or count) of one run. `goal` is what it must be, at least or at most;
    `aim` what we would like it to be."""

    part: str
    name: str
    value: float
    goal: float | None = None
    at_most: bool = False
    aim: float | None = None
    note: str = ""

    @property
    def is_met(self) -> bool:
        if self.goal is None:
            return True
        return self.value <= self.goal if self.at_most else self.value >= self.goal

    def line(self) -> str:
        sign = "≤" if self.at_most else "≥"
        goal = "" if self.goal is None else f"{sign} {self.goal:g}"
        aim = "" if self.aim is None else f"aim {self.aim:g}"
        mark = "" if self.goal is None else ("met" if self.is_met else "MISSED")
        value = f"{self.value:.2f}" if self.value < 100 else f"{self.value:,.0f}"
        return (
            f"{self.part:<12}{self.name:<50}{value:>8}  {goal:<7}{aim:<9}{mark:<8}"
            f"{self.note}"
        ).rstrip()


def middle(values: Iterable[float]) -> float:
    return float(median(values))


def quantile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def spread(values: Iterable[float]) -> str:
    """How far the rounds lie apart, for the note."""
    found = list(values)
    return f"rounds {min(found):.2f} to {max(found):.2f}"


def keep(figures: Iterable[Figure], file: Path, started_at: str) -> None:
    """Append them as JSON lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as out:
        for figure in figures:
            facts = {"started_at": started_at, **asdict(figure), "met": figure.is_met}
            out.write(json.dumps(facts) + "\n")
