"""Pictures on sheets: where they lie, in the drawing that a sheet has, and how large they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.package import Package
from officeplane.formats.pictures.drawing import EMU
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

DRAWING: Final = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
_ABOUT: Final = ".//{*}pic/{*}nvPicPr/{*}cNvPr"
_ANCHORS: Final = frozenset(f"{{{DRAWING}}}{name}" for name in ("oneCellAnchor", "twoCellAnchor", "absoluteAnchor"))


@dataclass(frozen=True, slots=True)
class SheetPicture:
    """A picture on a sheet: the part that it is drawn in, and what names it there."""

    part: str
    about: Element

    @property
    def element(self) -> Element:
        """The whole of it."""
        return next(around for around in self.about.iterancestors() if str(around.tag).endswith("}pic"))

    @property
    def anchor(self) -> Element | None:
        """What ties it, or the group that it is in, to cells."""
        return next((around for around in self.about.iterancestors() if around.tag in _ANCHORS), None)

    @property
    def is_alone(self) -> bool:
        """Whether it is tied to cells by itself, and in no group."""
        return self.element.getparent() is self.anchor

    @property
    def extent(self) -> Element | None:
        """What says how large it is, if that is not left to the cells that it covers."""
        anchor = self.anchor
        found = anchor.find("{*}ext") if anchor is not None and self.is_alone else None
        return self.own_extent if found is None else found

    @property
    def own_extent(self) -> Element | None:
        """What it says itself of its size, which programs write and some of them never read."""
        return self.element.find("{*}spPr/{*}xfrm/{*}ext")

    def form(self) -> dict[str, Any]:
        """Return where it lies and how large it is, and its alternative text."""
        form: dict[str, Any] = {}
        alt = self.about.get("descr", "")
        if alt:
            form["alt"] = alt
        extent = self.extent
        width, height = (0, 0) if extent is None else (whole(extent.get("cx"), 0), whole(extent.get("cy"), 0))
        if width and height:
            form["width"], form["height"] = round(width / EMU, 2), round(height / EMU, 2)
        anchor = self.anchor
        begin = None if anchor is None else anchor.find("{*}from")
        if begin is not None:
            row, column = (whole(begin.findtext(f"{{*}}{name}"), 0) + 1 for name in ("row", "col"))
            if row <= ROWS_MAX and column <= COLUMNS_MAX:
                form["cell"] = str(Address(row, column))
        return form


def pictures_on(package: Package, sheet: str) -> Iterator[SheetPicture]:
    """Yield the pictures on a sheet, by its part, in order."""
    for drawing in Relationships(package, sheet).of_type("drawing") if sheet else ():
        for about in package.tree(drawing.target).iterfind(_ABOUT) if drawing.target in package else ():
            yield SheetPicture(drawing.target, about)


def nodes_of_pictures(package: Package, sheet: Sheet) -> dict[str, SheetPicture]:
    """Return the pictures on a sheet by the ids of their nodes; those numbered alike are told apart by their turn."""
    found: dict[str, SheetPicture] = {}
    for picture in pictures_on(package, sheet.part):
        given = node_id = f"{sheet.id}.picture-{picture.about.get('id', '')}"
        times = 0
        while node_id in found:
            times += 1
            node_id = f"{given}+" if times == 1 else f"{given}+{times}"
        found[node_id] = picture
    return found
