"""Data of charts on slides: the workbook in which PowerPoint keeps them, so that "Edit Data" works.

Where the cells of a chart lie as PowerPoint lays them, the new data take their place, and
everything else in the workbook stays. Where they do not, they get a sheet of their own.
"""

import posixpath
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from lxml import etree

from officeplane.domain.document import Format, InvalidEditError, UnsupportedDocumentError
from officeplane.formats.blank import blank
from officeplane.formats.charts.caches import formula_of
from officeplane.formats.charts.data import GENERAL, ChartData, Point, Series, Shown
from officeplane.formats.charts.kinds import series_of
from officeplane.formats.charts.names import c, put
from officeplane.formats.excel.cells.addresses import Area, letters
from officeplane.formats.excel.charts.blocks import CellBlock, Formulas
from officeplane.formats.excel.formulas.references import quoted
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.gate import admit
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import R_ID
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.xml import Element

_WORKBOOK_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_SHEET: Final = "Sheet1"
_OWN_SHEET: Final = "Chart data"
_STEM: Final = "Microsoft_Excel_Worksheet"
_DATA: Final = c("externalData")


class Given(NamedTuple):
    """Data as somebody gives them for a chart on a slide."""

    categories: tuple[str | float, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]

    @property
    def rows(self) -> list[list[Point]]:
        """The cells in which they are kept: names above, categories on the left."""
        head: list[Point] = [None, *(name for name, _ in self.series)]
        return [head, *([name, *(values[at] for _, values in self.series)] for at, name in enumerate(self.categories))]


def keep_data(package: Package, part: str, given: Given) -> tuple[ChartData, str]:
    """Keep data in a new workbook; return them as the chart of a part shows them, and by what id it names that."""
    book = Workbook(Package.read(blank(Format.XLSX, None)))
    if book.write_block(CellBlock(_SHEET, Area(1, 1, 1, 1)), given.rows) is None:
        raise InvalidEditError("the data do not fit into a sheet: give less of them")
    name = _free_name(package, posixpath.join(posixpath.dirname(posixpath.dirname(part)), "embeddings"))
    _keep(package, name, book)
    return _shown(_SHEET, 1, 1, given), Relationships(package, part).add("package", name)


def name_workbook(root: Element, relation: str) -> None:
    """Have a chart name the workbook with its data."""
    held = root.find(_DATA)
    if held is None:
        held = put(root, etree.Element(_DATA))
        etree.SubElement(held, c("autoUpdate")).set("val", "0")
    held.set(R_ID, relation)


def change_data(package: Package, part: str, root: Element, given: Given) -> ChartData:
    """Keep other data in the workbook that the chart of a part names; return them as the chart shows them."""
    name = _workbook_of(package, part, root)
    if name is None:
        data, relation = keep_data(package, part, given)
        name_workbook(root, relation)
        return data
    book = _opened(package.content(name))
    known = book.block_of(_formulas(root))
    block = None if known is None else book.write_block(known, given.rows)
    if block is None:
        sheet = _free_sheet(book)
        book.add_sheet(sheet, None, [])
        block = book.write_block(CellBlock(sheet, Area(1, 1, 1, 1)), given.rows)
    if block is None:
        raise InvalidEditError("the workbook of the chart takes no further sheet with its data")
    if _is_shared(package, part, name):
        name = _free_name(package, posixpath.dirname(name))
        arrows = Relationships(package, part)
        arrows.remove(*(each.get(R_ID, "") for each in root.iterfind(_DATA)))
        name_workbook(root, arrows.add("package", name))
    _keep(package, name, book)
    return _shown(block.sheet, block.area.top, block.area.left, given)


def _shown(sheet: str, top: int, left: int, given: Given) -> ChartData:
    prefix, last = quoted(sheet), top + len(given.categories)

    def column(at: int, begin: int, end: int) -> str:
        first = f"{prefix}!${letters(at)}${begin}"
        return first if begin == end else f"{first}:${letters(at)}${end}"

    categories = Shown(column(left, top + 1, last), given.categories, GENERAL)
    series = [
        Series(Shown(column(at, top, top), (name,)), Shown(column(at, top + 1, last), values))
        for at, (name, values) in enumerate(given.series, left + 1)
    ]
    return ChartData(categories, tuple(series))


def _formulas(root: Element) -> Sequence[Formulas]:
    """Return what names the cells of each series: its name, its categories, its values."""
    found: list[Formulas] = []
    for series in series_of(root):
        across, upwards = ("cat", "val") if series.find(c("val")) is not None else ("xVal", "yVal")
        holders = (series.find(c("tx")), series.find(c(across)), series.find(c(upwards)))
        name, categories, values = map(formula_of, holders)
        found.append((name, categories, values))
    return found


def _workbook_of(package: Package, part: str, root: Element) -> str | None:
    """Return the part with the workbook of a chart, None if it has none; one elsewhere is refused."""
    held = root.find(_DATA)
    wanted = "" if held is None else held.get(R_ID, "")
    arrow = next((each for each in Relationships(package, part) if wanted and each.id == wanted), None)
    if arrow is None:
        return None
    if arrow.is_external:
        raise InvalidEditError("the chart takes its data from another file: change them there, or break the link first")
    return arrow.target if arrow.target in package else None


def _opened(data: bytes) -> Workbook:
    try:
        if admit(data) is Format.XLSX:
            return Workbook(Package.read(data))
        said = "it is no workbook"
    except UnsupportedDocumentError as error:
        said = str(error)
    raise InvalidEditError(f"the data of the chart are kept in a workbook that cannot be edited here ({said})")


def _keep(package: Package, name: str, book: Workbook) -> None:
    package.put(name, book.package.write().content(), as_it_is=True)
    declare(package, name, _WORKBOOK_TYPE)


def _is_shared(package: Package, part: str, name: str) -> bool:
    """Tell whether the chart of another part keeps its data there, too."""
    own = posixpath.join(posixpath.dirname(part), "_rels", f"{posixpath.basename(part)}.rels")
    for rels in package.names:
        if not rels.endswith(".rels") or rels == own:
            continue
        user = posixpath.join(
            posixpath.dirname(posixpath.dirname(rels)), posixpath.basename(rels).removesuffix(".rels")
        )
        if any(arrow.target == name and not arrow.is_external for arrow in Relationships(package, user)):
            return True
    return False


def _free_sheet(book: Workbook) -> str:
    taken = {node.text.casefold() for node in book.outline()}
    number, name = 1, _OWN_SHEET
    while name.casefold() in taken:
        number += 1
        name = f"{_OWN_SHEET} {number}"
    return name


def _free_name(package: Package, folder: str) -> str:
    """Return a name as PowerPoint gives them: the first without a number."""
    pattern = re.compile(rf"{re.escape(folder)}/{_STEM}([0-9]{{0,9}})\.xlsx", re.IGNORECASE)
    numbers = [int(match[1] or 0) for match in map(pattern.fullmatch, package.names) if match is not None]
    return f"{folder}/{_STEM}{max(numbers) + 1 if numbers else ''}.xlsx"
