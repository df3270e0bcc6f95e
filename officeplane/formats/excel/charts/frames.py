"""Frames: where charts lie on a sheet, and how large they are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.charts.names import CHART, c
from officeplane.formats.charts.placing import ChartPlace
from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.charts.listing import Chart
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.drawings import cell_at, drawing_of, write_mark, xdr
from officeplane.formats.excel.sheets.rulers import columns_of, rows_of
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import RELATION
from officeplane.formats.pictures.drawing import EMU, A, describe, units
from officeplane.formats.relationships import OFFICE, Relationships
from officeplane.formats.xml import Element

_WIDTH: Final = 360.0
_HEIGHT: Final = 216.0
_EMPTY: Final = {"x": "0", "y": "0"}, {"cx": "0", "cy": "0"}


@dataclass(frozen=True, slots=True)
class ChartFrame:
    """A chart on a sheet: the part of the chart, that of the drawing, and the frame in it."""

    part: str
    drawing: str
    sheet: Sheet
    element: Element

    @property
    def about(self) -> Element | None:
        """What names it."""
        return next(self.element.iter(xdr("cNvPr")), None)

    def form(self, parts: Parts) -> dict[str, Any]:
        """Return where it lies and how large it is, and its alternative text."""
        alt = "" if self.about is None else self.about.get("descr", "")
        form: dict[str, Any] = {"alt": alt} if alt else {}
        anchor = self.element.getparent()
        begin = None if anchor is None else anchor.find(xdr("from"))
        if anchor is not None and begin is not None and self.sheet.has_cells:
            size = _size(parts, self.sheet, anchor)
            form["width"], form["height"] = (round(each / EMU, 2) for each in size)
            form["cell"] = str(Address(_mark(begin, "row")[0] + 1, _mark(begin, "col")[0] + 1))
        return form


def add_frame(parts: Parts, at: str, chart: str, alt: str | None, wanted: ChartPlace) -> None:
    """Show the chart of a part on a sheet, from a cell on."""
    sheet, cell = cell_at(parts, at)
    part = drawing_of(parts, sheet)
    package = parts.package
    root = package.tree(part)
    number = 1 + max((whole(about.get("id"), 0) for about in root.iter("{*}cNvPr")), default=1)
    anchor = etree.SubElement(root, xdr("twoCellAnchor"))
    etree.SubElement(anchor, xdr("from"))
    etree.SubElement(anchor, xdr("to"))
    _set(parts, sheet, anchor, cell, (units(wanted.width or _WIDTH), units(wanted.height or _HEIGHT)))
    frame = etree.SubElement(anchor, xdr("graphicFrame"), macro="")
    about = etree.SubElement(frame, xdr("nvGraphicFramePr"))
    named = etree.SubElement(about, xdr("cNvPr"), id=str(number), name=f"Chart {number - 1}")
    if alt is not None:
        describe(named, alt)
    etree.SubElement(about, xdr("cNvGraphicFramePr"))
    place = etree.SubElement(frame, xdr("xfrm"))
    for name, empty in zip(("off", "ext"), _EMPTY, strict=True):
        etree.SubElement(place, f"{{{A}}}{name}", empty)
    held = etree.SubElement(etree.SubElement(frame, f"{{{A}}}graphic"), f"{{{A}}}graphicData", uri=CHART)
    shown = etree.SubElement(held, c("chart"), nsmap={"c": CHART, "r": OFFICE})
    shown.set(RELATION, Relationships(package, part).add("chart", chart))
    etree.SubElement(anchor, xdr("clientData"))
    package.changed(part)


def frame_of(parts: Parts, node_id: str) -> ChartFrame:
    """Return the chart of an id, as reading gives it; another id is refused."""
    found = find_frame(parts, lambda part: Chart(part, "").id == node_id)
    if found is None:
        raise InvalidEditError(f"there is no chart {node_id!r}: the outline lists those that there are")
    return found


def find_frame(parts: Parts, is_wanted: Callable[[str], bool]) -> ChartFrame | None:
    """Return the first frame with a chart whose part is wanted."""
    package = parts.package
    for sheet in parts.sheets.all:
        for drawing in Relationships(package, sheet.part).of_type("drawing") if sheet.part else ():
            if drawing.target not in package:
                continue
            arrows = {each.id: each.target for each in Relationships(package, drawing.target) if not each.is_external}
            for element in package.tree(drawing.target).iter(xdr("graphicFrame")):
                part = arrows.get(next((each.get(RELATION, "") for each in element.iter("{*}chart")), ""), "")
                if part in package and is_wanted(part):
                    return ChartFrame(part, drawing.target, sheet, element)
    return None


def move_frame(parts: Parts, frame: ChartFrame, at: str | None, wanted: ChartPlace) -> None:
    """Have a chart begin at another cell of its sheet, or be of another size."""
    anchor = frame.element.getparent()
    begin = None if anchor is None else anchor.find(xdr("from"))
    if anchor is None or begin is None or not frame.sheet.has_cells:
        raise InvalidEditError("the chart is in a group or fills a sheet of its own: leave out at, width and height")
    size = _size(parts, frame.sheet, anchor)
    size = (
        size[0] if wanted.width is None else units(wanted.width),
        size[1] if wanted.height is None else units(wanted.height),
    )
    cell: Address | None = None
    if at is not None:
        sheet, cell = cell_at(parts, at)
        if sheet.part != frame.sheet.part:
            raise InvalidEditError(f"the chart is on the sheet {frame.sheet.name!r} and stays there: make one on {at}")
    _set(parts, frame.sheet, anchor, cell, size)
    parts.package.changed(frame.drawing)


def _size(parts: Parts, sheet: Sheet, anchor: Element) -> tuple[int, int]:
    """Return how wide and how high something is that is tied to cells."""
    begin, end, extent = (anchor.find(xdr(name)) for name in ("from", "to", "ext"))
    if extent is not None:
        return whole(extent.get("cx"), 0), whole(extent.get("cy"), 0)
    if begin is None or end is None:
        return units(_WIDTH), units(_HEIGHT)
    root = parts.package.tree(sheet.part)
    across, down = ((_mark(begin, name), _mark(end, name)) for name in ("col", "row"))
    return columns_of(root).between(*across), rows_of(root).between(*down)


def _set(parts: Parts, sheet: Sheet, anchor: Element, cell: Address | None, size: tuple[int, int]) -> None:
    """Say where something begins, if that is another cell, and where it ends or how large it is."""
    root = parts.package.tree(sheet.part)
    begin, end, extent = (anchor.find(xdr(name)) for name in ("from", "to", "ext"))
    if begin is None:
        return
    if cell is not None:
        for child in list(begin):
            begin.remove(child)
        write_mark(begin, (cell.column - 1, 0), (cell.row - 1, 0))
    if end is not None:
        for child in list(end):
            end.remove(child)
        write_mark(
            end,
            columns_of(root).behind(_mark(begin, "col"), size[0]),
            rows_of(root).behind(_mark(begin, "row"), size[1]),
        )
    if extent is not None:
        extent.set("cx", str(size[0]))
        extent.set("cy", str(size[1]))


def _mark(mark: Element, name: str) -> tuple[int, int]:
    return whole(mark.findtext(xdr(name)), 0), whole(mark.findtext(xdr(f"{name}Off")), 0)
