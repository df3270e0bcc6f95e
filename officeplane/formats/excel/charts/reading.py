"""Reading of charts on sheets: what they show is what their cells hold now."""

from typing import Any, Final

from officeplane.formats.blocks import Block
from officeplane.formats.charts.caches import formula_of, remembered
from officeplane.formats.charts.data import Point
from officeplane.formats.charts.telling import form_of, table_of
from officeplane.formats.excel.charts.cells import ChartCells
from officeplane.formats.excel.charts.frames import find_frame
from officeplane.formats.excel.parts import Parts
from officeplane.formats.xml import Element

_STALE: Final = "[stale]"
"""Where a result stands that has to be calculated first."""


def told_table(parts: Parts, part: str) -> list[Block]:
    """Return what the chart of a part shows, as a table."""
    cells = ChartCells(parts)

    def points(holder: Element | None) -> tuple[Point, ...]:
        formula = formula_of(holder)
        seen = cells.seen(formula) if formula else None
        if seen is None:
            return remembered(holder)
        return tuple(_STALE if at in seen.stale else point for at, point in enumerate(seen.points))

    return table_of(parts.package.tree(part), points)


def told_form(parts: Parts, part: str) -> dict[str, Any]:
    """Return where the chart of a part lies, and what else is to say of its looks."""
    frame = find_frame(parts, lambda chart: chart == part)
    return {} if frame is None else frame.form(parts) | form_of(parts.package.tree(part))
