"""A run: every scenario and every limit, again and again, so that drift and noise reach all of them alike."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from officeplane.bench import facts, processor
from officeplane.bench.report import MeasuredLimit, MeasuredScenario, Report
from officeplane.bench.scenario import Comparison, Result
from officeplane.bench.servers import Servers
from officeplane.bench.suites import SUITES, SUMS

ALL_LIMITS: Final = "limits"


def names(suite: str) -> list[str]:
    """Return what there is to be measured in a suite."""
    return [*(scenario.name for scenario in SUITES[suite].scenarios), ALL_LIMITS]


async def run(
    servers: Servers, *, suite: str, only: Collection[str], repeats: int, say: Callable[[str], None]
) -> Report:
    """Measure what is named by `only`, or all there is in the suite, with the limits that it is compared with."""
    scenarios, comparisons = SUITES[suite]
    load_before, began_at, began = processor.load(), datetime.now(UTC), time.perf_counter()
    known = await facts.gather(servers)
    chosen = [scenario for scenario in scenarios if not only or scenario.name in only]
    results: dict[str, list[Result]] = {scenario.name: [] for scenario in chosen}
    limits: dict[str, list[float]] = {}
    for repeat in range(repeats):
        turn = f" ({repeat + 1} of {repeats})" if repeats > 1 else ""
        for scenario in chosen:
            say(f"{scenario.title}{turn}")
            results[scenario.name].append(await scenario.measure(servers))
        wanted = _limits_of(results) if only and ALL_LIMITS not in only else None
        for comparison in comparisons:
            if wanted is None or any(limit.name in wanted for limit in comparison.limits):
                say(f"limit: {comparison.limits[0].title}{turn}")
                for limit, value in zip(comparison.limits, await comparison.measure(servers), strict=True):
                    limits.setdefault(limit.name, []).append(value)
    return Report(
        facts=known,
        began_at=began_at,
        seconds=time.perf_counter() - began,
        scale=servers.scale,
        load_before=load_before,
        load_after=processor.load(),
        limits=_measured(comparisons, limits),
        scenarios=[MeasuredScenario(scenario.name, scenario.title, results[scenario.name]) for scenario in chosen],
    )


def _limits_of(results: Mapping[str, Sequence[Result]]) -> set[str]:
    named = {figure.limit for found in results.values() for figure in found[-1].figures() if figure.limit is not None}
    return {part for name in named for part in SUMS.get(name, (name,))}


def _measured(comparisons: Sequence[Comparison], limits: Mapping[str, Sequence[float]]) -> dict[str, MeasuredLimit]:
    measured = {
        limit.name: MeasuredLimit(limit.name, limit.title, limit.unit, limits[limit.name])
        for comparison in comparisons
        for limit in comparison.limits
        if limit.name in limits
    }
    for name, parts in SUMS.items():
        if all(part in measured for part in parts):
            # To do several things to each takes the sum of their times.
            repeats = zip(*(measured[part].values for part in parts), strict=True)
            title = ", ".join(measured[part].title for part in parts)
            rates = [1 / sum(1 / rate for rate in repeat) for repeat in repeats]
            measured[name] = MeasuredLimit(name, f"one after the other: {title}", "tasks/s", rates)
    return measured
