"""The report of a run: what was measured, on what, as values that a program can read."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from pydantic import JsonValue, TypeAdapter

from officeplane.bench.facts import Facts
from officeplane.bench.figures import Figure, median, spread
from officeplane.bench.scenario import Result

FORMAT = 1

_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


@dataclass(frozen=True, slots=True)
class MeasuredLimit:
    """What the bare servers did, in each repeat."""

    name: str
    title: str
    unit: str
    values: Sequence[float]

    @property
    def value(self) -> float:
        """The middle one of the repeats."""
        return median(self.values)


@dataclass(frozen=True, slots=True)
class MeasuredFigure:
    """One number of a scenario, in each repeat, and how it compares with its limit."""

    scenario: str
    name: str
    unit: str
    values: Sequence[float]
    limit: str | None
    ratio: float | None

    @property
    def value(self) -> float:
        """The middle one of the repeats."""
        return median(self.values)


@dataclass(frozen=True, slots=True)
class MeasuredScenario:
    """Everything that the repeats of a scenario found."""

    name: str
    title: str
    results: Sequence[Result]

    def figures(self, limits: Mapping[str, MeasuredLimit]) -> list[MeasuredFigure]:
        """Return the numbers that are worth a line."""
        repeats = [result.figures() for result in self.results]
        return [self._figure(same, limits) for same in zip(*repeats, strict=True)]

    def _figure(self, same: Sequence[Figure], limits: Mapping[str, MeasuredLimit]) -> MeasuredFigure:
        values = [figure.value for figure in same]
        first = same[0]
        limit = None if first.limit is None else limits.get(first.limit)
        ratio = None if limit is None else median(values) / limit.value
        return MeasuredFigure(self.name, first.name, first.unit, values, first.limit, ratio)


@dataclass(frozen=True, slots=True)
class Report:
    """One run."""

    facts: Facts
    began_at: datetime
    seconds: float
    scale: float
    load_before: tuple[float, float, float]
    load_after: tuple[float, float, float]
    limits: Mapping[str, MeasuredLimit]
    scenarios: Sequence[MeasuredScenario]

    def figures(self) -> list[MeasuredFigure]:
        """Return the numbers that are worth a line, scenario by scenario."""
        return [figure for scenario in self.scenarios for figure in scenario.figures(self.limits)]

    def as_json(self) -> JsonValue:
        """Return all of it."""
        return _JSON.validate_python(
            {
                "format": FORMAT,
                "beganAt": self.began_at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
                "seconds": round(self.seconds, 1),
                "scale": self.scale,
                "machine": asdict(self.facts),
                "loadBefore": list(self.load_before),
                "loadAfter": list(self.load_after),
                "limits": {
                    limit.name: {
                        "title": limit.title,
                        "unit": limit.unit,
                        "value": limit.value,
                        "values": list(limit.values),
                    }
                    for limit in self.limits.values()
                },
                "scenarios": {
                    scenario.name: {"title": scenario.title, "results": [asdict(result) for result in scenario.results]}
                    for scenario in self.scenarios
                },
                "figures": [
                    {
                        "scenario": figure.scenario,
                        "name": figure.name,
                        "unit": figure.unit,
                        "value": figure.value,
                        "values": list(figure.values),
                        "spread": spread(figure.values),
                        "limit": figure.limit,
                        "ratio": figure.ratio,
                    }
                    for figure in self.figures()
                ],
            }
        )
