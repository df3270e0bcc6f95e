"""Naming the nodes of a workbook: where their ids stand in the file, and how others are written there."""

import posixpath
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Final

from officeplane.formats.excel.cells.values import shown
from officeplane.formats.excel.charts.listing import Chart, charts_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.deleted_numbers import last_sheet_number, note_last_sheet_number
from officeplane.formats.excel.sheets.pictures import SheetPicture, nodes_of_pictures
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.tables import Table
from officeplane.formats.excel.tags import main
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.naming.named import Named, hashed
from officeplane.formats.part_names import rename_parts
from officeplane.formats.pictures.drawing import blip_in, shown_by
from officeplane.formats.pictures.parts import digest_of
from officeplane.formats.pictures.shape_numbers import renumber
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

_SHEET: Final = "sheet"
_CHART: Final = "chart"
_SHEETS_END: Final = 65_535
"""Excel takes no higher numbers of sheets."""
_CELLS_COMPARED_MAX: Final = 200
_SLICERS: Final = "xl/slicercaches/"


class NamesOfExcel:
    """The named nodes of a workbook: sheets with their pictures, tables, charts."""

    def __init__(self, document: Workbook) -> None:
        self._package = document.package
        self._parts = Parts(document.package)
        self._workbook: Element = self._package.tree(self._parts.workbook)
        self.last = last_sheet_number(self._workbook)
        self.top = [*map(self._sheet, self._parts.sheets.all), *self._tables(), *self._charts()]

    def fresh(self, node: Named, seed: str, taken: Collection[str], last: int) -> str:
        """Return a number for a node that nothing in its family has, or had."""
        if node.family == _CHART:
            return f"{_CHART}{hashed(node, seed, taken)}"
        if node.family != _SHEET:
            return hashed(node, seed, taken)
        # Where the last number is not known, half of all there are is left to those that count up.
        return str(last + 1) if 0 < last < _SHEETS_END - 1 else hashed(node, seed, taken, 1_000, _SHEETS_END // 2)

    def write(self, numbers: Mapping[Named, str], last: Mapping[str, int]) -> None:
        """Have the file give nodes these numbers."""
        drawn: dict[str, dict[Element, str]] = {}
        charts: dict[str, str] = {}
        tables: dict[str, str] = {}
        sheets: dict[str, str] = {}
        for node, number in numbers.items():
            match node.source:
                case Sheet(element=element):
                    sheets[node.number] = number
                    element.set("sheetId", number)
                    self._package.changed(self._parts.workbook)
                case SheetPicture(part=part, about=about):
                    drawn.setdefault(part, {})[about] = number
                case Table(root=root, part=part):
                    tables[node.number] = number
                    root.set("id", number)
                    self._package.changed(part)
                case Chart(part=part):
                    charts[part] = posixpath.join(posixpath.dirname(part), f"{number}.xml")
                case _:
                    raise AssertionError(node.id)
        for part, given in drawn.items():
            renumber(self._package.tree(part), given)
            self._package.changed(part)
        self._follow("calcChain", "c", "i", sheets)
        self._renumber_slicers(tables)
        rename_parts(self._package, charts)
        if last.get("", 0) > last_sheet_number(self._workbook):
            note_last_sheet_number(self._workbook, last[""])
            self._package.changed(self._parts.workbook)

    def _sheet(self, sheet: Sheet) -> Named:
        # Not by a reader: that looks at every cell, and there may be a million.
        made = Named(sheet.id, _SHEET, sheet.number, sheet.name, is_counted=sheet.number.isdecimal(), source=sheet)
        made.like = partial(self._held, sheet)
        made.below = [
            Named(node_id, "picture", picture.about.get("id", ""), "", self._looks(picture), source=picture)
            for node_id, picture in nodes_of_pictures(self._package, sheet).items()
        ]
        return made

    def _looks(self, picture: SheetPicture) -> str:
        blip = blip_in(picture.element)
        held = None if blip is None else digest_of(self._package, picture.part, shown_by(blip))
        return f"{picture.about.get('descr') or picture.about.get('name') or ''}\0{held or ''}"

    def _held(self, sheet: Sheet) -> str:
        cells = islice(self._parts.grid(sheet).cells() if sheet.has_cells else (), _CELLS_COMPARED_MAX)
        return "\n".join(shown(cell, self._parts.strings) or "" for _, cell in cells)

    def _tables(self) -> Iterator[Named]:
        for table in self._parts.all_tables():
            if table.root.get("id"):
                yield Named(table.id, "table", table.root.get("id", ""), table.name, source=table)

    def _charts(self) -> Iterator[Named]:
        for sheet in self._parts.sheets.all:
            for chart in charts_of(self._package, sheet.part) if sheet.part else ():
                data = "\n".join(held.text or "" for held in self._package.tree(chart.part).iter("{*}f"))
                yield Named(chart.id, _CHART, chart.id.removeprefix("chart-"), f"{chart.title}\n{data}", source=chart)

    def _follow(self, kind: str, name: str, attribute: str, numbers: Mapping[str, str]) -> None:
        """Have what a part of the workbook refers to by numbers be what it was."""
        for arrow in Relationships(self._package, self._parts.workbook).of_type(kind) if numbers else ():
            if arrow.target in self._package:
                for one in self._package.tree(arrow.target).iter(main(name)):
                    if (number := one.get(attribute, "")) in numbers:
                        one.set(attribute, numbers[number])
                self._package.changed(arrow.target)

    def _renumber_slicers(self, tables: Mapping[str, str]) -> None:
        """Have slicers go on filtering their tables."""
        for part in [name for name in self._package.names if tables and name.lower().startswith(_SLICERS)]:
            for slicer in self._package.tree(part).iter("{*}tableSlicerCache"):
                slicer.set("tableId", tables.get(slicer.get("tableId", ""), slicer.get("tableId", "")))
                self._package.changed(part)
