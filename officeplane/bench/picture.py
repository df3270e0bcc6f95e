"""The report as people read it: what it was measured on, a table, and how much of each limit is reached."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from officeplane.bench.figures import HIGHER_IS_BETTER, spread
from officeplane.bench.report import Report

_BAR = 40


def picture(report: Report) -> Iterator[RenderableType]:
    """Yield the parts of the picture."""
    yield from _facts(report)
    if report.scenarios:
        yield Text()
        yield _figures(report)
    if report.limits:
        yield Text()
        yield _limits(report)
    bars = list(_bars(report))
    if bars:
        yield Text("\nHow much of the rate compared with is reached; | is all of it\n")
        yield from bars


def _facts(report: Report) -> Iterator[Text]:
    facts = report.facts
    before, after = report.load_before[0], report.load_after[0]
    settings = ", ".join(f"{name} {value}" for name, value in facts.postgres_settings.items())
    yield Text(f"{facts.cores} cores ({facts.processor or 'unknown'}), {facts.system}, Python {facts.python}")
    yield Text(f"Postgres {facts.postgres}: {settings}")
    yield Text(f"{facts.redis}: append-only file {'on' if facts.redis_append_only else 'off'}")
    yield Text(", ".join(f"{name} {version}" for name, version in facts.libraries.items()))
    size = "full size" if report.scale == 1 else f"{report.scale:g} of the full size"
    yield Text(f"{size}, {report.seconds:.0f} s, load average {before} before, {after} after")


def _figures(report: Report) -> Table:
    table = _table("what", "figure", "value", "unit", "±", "of limit", "limit")
    seen = ""
    titles = {scenario.name: scenario.title for scenario in report.scenarios}
    for figure in report.figures():
        table.add_row(
            "" if figure.scenario == seen else titles[figure.scenario],
            figure.name,
            number(figure.value),
            figure.unit,
            _spread(figure.values),
            "" if figure.ratio is None else f"{figure.ratio:.2f}x",
            figure.limit or "",
        )
        seen = figure.scenario
    return table


def _limits(report: Report) -> Table:
    table = _table("limit", "value", "unit", "±", "of the bare servers, or by hand")
    for limit in report.limits.values():
        table.add_row(limit.name, number(limit.value), limit.unit, _spread(limit.values), limit.title)
    return table


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for name in names:
        table.add_column(name, justify="right" if name in {"value", "±", "of limit"} else "left", overflow="fold")
    return table


def _bars(report: Report) -> Iterator[Text]:
    rates = [
        (figure, figure.ratio)
        for figure in report.figures()
        if figure.unit in HIGHER_IS_BETTER and figure.ratio is not None
    ]
    if not rates:
        return
    width = max(len(figure.scenario) for figure, _ in rates)
    longest = max(1.0, *(ratio for _, ratio in rates))
    for figure, ratio in rates:
        yield Text(f"{figure.scenario:<{width}}  {bar(ratio, longest)}  {number(figure.value)} {figure.unit}")


def bar(ratio: float, longest: float) -> str:
    """Draw a ratio on a scale that ends at the longest, with a line at 1."""
    filled, line = round(_BAR * ratio / longest), round(_BAR / longest)
    cells = ["█" if cell < filled else "·" for cell in range(_BAR + 1)]
    cells[line] = "|"
    return "".join(cells)


def number(value: float) -> str:
    """Write a number with as many digits as mean something."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _spread(values: Sequence[float]) -> str:
    return f"{50 * spread(values):.0f} %" if len(values) > 1 else ""
