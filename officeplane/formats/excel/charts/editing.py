"""Charts on sheets: new ones, and those that are there changed."""

import re
from typing import Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import LOST, EditWarning
from officeplane.formats.charts.changing import ChartLook, change_chart, new_chart
from officeplane.formats.charts.kinds import kind_of, plots_of
from officeplane.formats.charts.names import CHART_TYPE, c, say
from officeplane.formats.charts.placing import ChartPlace
from officeplane.formats.excel.charts.frames import add_frame, frame_of, move_frame
from officeplane.formats.excel.charts.listing import Chart
from officeplane.formats.excel.charts.sources import Reading, data_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.tags import main
from officeplane.formats.pictures.drawing import describe
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.theme import THEME, THEME_TYPE
from officeplane.formats.xml import serialise

_LETTERS: Final = 1_000
_BACKGROUND: Final = (
    '<c:spPr><a:solidFill><a:schemeClr val="bg1"/></a:solidFill><a:ln w="9525"><a:solidFill><a:schemeClr val="tx1">'
    '<a:lumMod val="15000"/><a:lumOff val="85000"/></a:schemeClr></a:solidFill></a:ln></c:spPr>'
)
_THEME_PART: Final = "xl/theme/theme1.xml"
_PART: Final = re.compile(r"xl/charts/chart([0-9]{1,9})\.xml", re.IGNORECASE)


class Cells(NamedTuple):
    """The cells that a chart is to show, and how they are read."""

    range: str
    reading: Reading


def insert_chart(parts: Parts, at: str, look: ChartLook, cells: Cells, alt: str | None, wanted: ChartPlace) -> str:
    """Put a chart of cells on a sheet; return its node id."""
    package = parts.package
    _add_theme(parts)
    root = new_chart(look, data_of(parts, cells.range, cells.reading, look.kind), _LETTERS, _BACKGROUND)
    if _begins_in_1904(parts):
        say(root, "date1904", "1")
    numbers = [int(match[1]) for match in map(_PART.fullmatch, package.names) if match is not None]
    part = f"xl/charts/chart{max(numbers, default=0) + 1}.xml"
    package.put(part, serialise(root))
    declare(package, part, CHART_TYPE)
    add_frame(parts, at, part, alt, wanted)
    return Chart(part, "").id


def change_sheet_chart(
    parts: Parts, node_id: str, look: ChartLook, cells: Cells | None, alt: str | None, at: str | None,
    wanted: ChartPlace,
) -> list[EditWarning]:  # fmt: skip
    """Change a chart on a sheet; return what to warn of."""
    frame = frame_of(parts, node_id)
    package = parts.package
    root = package.tree(frame.part)
    data = None
    if cells is not None:
        plots = plots_of(root) if root.tag == c("chartSpace") else []
        data = data_of(parts, cells.range, cells.reading, look.kind or (kind_of(plots[0]) if plots else None))
    lost = change_chart(root, look, data)
    if data is not None or look != ChartLook():
        package.changed(frame.part)
    if alt is not None:
        about = frame.about
        if about is None:
            raise InvalidEditError(f"the chart {node_id!r} has no name to which a text could be given")
        describe(about, alt)
        package.changed(frame.drawing)
    if at is not None or wanted.is_said:
        move_frame(parts, frame, at, wanted)
    return [EditWarning(LOST, said, node_id) for said in lost]


def _add_theme(parts: Parts) -> None:
    """Give a workbook without colours those that charts name; Excel thinks of the same ones, others of none."""
    package, arrows = parts.package, Relationships(parts.package, parts.workbook)
    if any(arrow.target in package for arrow in arrows.of_type("theme")) or _THEME_PART in package:
        return
    package.put(_THEME_PART, THEME.encode())
    declare(package, _THEME_PART, THEME_TYPE)
    arrows.add("theme", _THEME_PART)


def _begins_in_1904(parts: Parts) -> bool:
    found = parts.package.tree(parts.workbook).find(main("workbookPr"))
    return found is not None and found.get("date1904") in {"1", "true"}
