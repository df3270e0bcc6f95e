"""Figures: what was measured beside what is promised."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table; `held` is whether the promise was kept."""

    name: str
    measured: str
    promised: str
    held: bool


def within(name: str, seconds: Sequence[float], limit: float, promise: str = "") -> Figure:
    """Return the figure of something that must not take longer than that."""
    if not seconds:
        return Figure(name, "nothing measured", f"{limit:g} s", held=False)
    told = f"{seconds[0]:.2f} s"
    if len(seconds) > 1:
        told = f"{len(seconds)} times, median {median(seconds):.2f} s, longest {max(seconds):.2f} s"
    return Figure(name, told, promise or f"{limit:g} s", held=max(seconds) <= limit)


def exactly(name: str, measured: object, promised: object) -> Figure:
    """Return the figure of something that must be just so."""
    return Figure(name, str(measured), str(promised), held=measured == promised)


def noted(name: str, measured: str, promised: str = "-") -> Figure:
    """Return a figure that is only told."""
    return Figure(name, measured, promised, held=True)


def row(figure: Figure) -> str:
    """Return a figure as a row of a table."""
    return f"{figure.name} | {figure.measured} | {figure.promised}" + ("" if figure.held else " | NOT HELD")


def as_json(part: str, seconds: float, figures: Iterable[Figure]) -> str:
    """Return the figures of a part as one line."""
    return json.dumps({"part": part, "seconds": round(seconds, 1), "figures": [asdict(figure) for figure in figures]})
