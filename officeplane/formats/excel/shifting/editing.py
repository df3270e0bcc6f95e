"""Inserting and deleting rows and columns of a sheet, with everything that says where something is."""

from collections.abc import Iterable, Iterator
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import LOST, EditWarning
from officeplane.formats.excel.beside_cells import beside_cells
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address, Area, area, letters
from officeplane.formats.excel.cells.grid import Row
from officeplane.formats.excel.cells.texts import decode
from officeplane.formats.excel.cells.values import write
from officeplane.formats.excel.formulas.calculation import forget_order
from officeplane.formats.excel.formulas.rewriting import columns_lost, tables_lost
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.recalculation.recalculating import readers_of
from officeplane.formats.excel.sheets.lost_places import place_in_words
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.tables import Table
from officeplane.formats.excel.sheets.unused_parts import drop, reachable
from officeplane.formats.excel.shifting.cells import shift_cells, shift_rows
from officeplane.formats.excel.shifting.checks import check_shift
from officeplane.formats.excel.shifting.comments import shift_boxes, shift_comments
from officeplane.formats.excel.shifting.drawings import shift_anchors
from officeplane.formats.excel.shifting.following import Following
from officeplane.formats.excel.shifting.formulas import FormulaShift
from officeplane.formats.excel.shifting.named_areas import shift_named_areas
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.excel.shifting.tables import Fate, shift_table
from officeplane.formats.excel.shifting.views import shift_breaks, shift_columns, shift_dimension, shift_views
from officeplane.formats.excel.tags import RELATION, main
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

_OBJECTS: Final = frozenset({"drawing", "comments", "threadedComment", "vmlDrawing", "pivotTable", "tableSingleCells"})
_FILTER_NAME: Final = "_xlnm._FilterDatabase"


class GridEdit:
    """One shift of one sheet of a workbook."""

    def __init__(self, parts: Parts, sheet: Sheet, shift: Shift) -> None:
        self._parts = parts
        self._package = parts.package
        self._sheet = sheet
        self._shift = shift
        self._lost: list[str] = []
        self._left: list[str] = []
        self._gone: list[str] = []
        self.count = 0
        """How many formulas and other references read otherwise now."""

    def apply(self) -> None:
        """Do it."""
        parts, package, shift = self._parts, self._package, self._shift
        grid = parts.grid(self._sheet)
        root = grid.root
        check_shift(parts, self._sheet, grid, shift)
        tables = parts.tables(self._sheet)
        readers = [] if shift.inserts else readers_of(parts, self._sheet.part, self._shifted_area())
        formulas = FormulaShift(shift, self._sheet.name, parts.sheets.names)
        following = Following(parts, self._sheet, formulas)
        following.follow()
        self._lost, self._left = following.lost, following.left
        self._shift_sheet(root)
        if shift.is_of_rows:
            shift_rows(root, shift, lambda: any(_is_under_header(table, shift) for table in tables))
        else:
            shift_cells(root, shift)
        parts.forget(self._sheet.part)
        package.changed(self._sheet.part)
        self.count += formulas.count
        for table in tables:
            self._shift_table(table)
        self._shift_objects()
        forget_order(package, parts.workbook)
        self._note_changes(readers)
        package.changed(parts.workbook)

    def warnings(self) -> Iterator[EditWarning]:
        """Yield what became of things that nobody named."""
        dropped = {
            place
            for place in self._lost
            if (part := place.removeprefix("the part ")) != place and part not in self._package
        }
        for place in dict.fromkeys(each for each in self._lost if each not in dropped):
            yield EditWarning("reference_lost", f"{place} referred to what was deleted and says #REF! now")
        for place in dict.fromkeys(self._left):
            yield EditWarning(
                "reference_kept",
                f"{place} refers to these cells of several sheets at once and was left as it is, as in Excel: in"
                f" {self._sheet.name} it means other cells now",
            )
        for said in self._gone:
            yield EditWarning(LOST, said, self._sheet.id)

    def _shifted_area(self) -> Area:
        """Return the cells that come or go."""
        shift = self._shift
        last = shift.end - 1
        return Area(shift.at, 1, last, COLUMNS_MAX) if shift.is_of_rows else Area(1, shift.at, ROWS_MAX, last)

    def _note_changes(self, readers: Iterable[tuple[str, Address]]) -> None:
        """Note what reads other cells now: of areas that cells came into, or that `readers` of what is gone read."""
        changes, part = self._parts.changes, self._sheet.part
        changes.has_moved = True
        if self._shift.inserts:
            changes.area(part, self._shifted_area())
        for holder, at in readers:
            seat = self._shift.cell(at) if holder == part else at
            if seat is not None:
                changes.cell(holder, seat)

    def _shift_sheet(self, root: Element) -> None:
        shift = self._shift
        links = {link.get(RELATION) for link in beside_cells(root, main("hyperlink"))}
        had_filter = root.find(main("autoFilter")) is not None
        for element in shift_named_areas(root, shift):
            self.count += 1
            if element.getroottree().getroot() is not root and element.tag == main("hyperlink"):
                self._gone.append(f"the link at {element.get('ref')}")
        left = {link.get(RELATION) for link in beside_cells(root, main("hyperlink"))}
        Relationships(self._package, self._sheet.part).remove(*(each for each in links - left if each))
        if had_filter and root.find(main("autoFilter")) is None:
            self._forget_filter()
            self._gone.append("the filter of the sheet")
        shift_views(root, shift)
        shift_breaks(root, shift)
        shift_columns(root, shift)
        shift_dimension(root, shift)
        self._tell_collapsed(shift_anchors(root, shift))

    def _forget_filter(self) -> None:
        place = next(at for at, each in enumerate(self._parts.sheets.all) if each.part == self._sheet.part)
        for name in list(self._package.tree(self._parts.workbook).iter(main("definedName"))):
            if name.get("name") == _FILTER_NAME and whole(name.get("localSheetId"), -1) == place:
                holder = name.getparent()
                if holder is not None:
                    holder.remove(name)
                    if not len(holder) and (parent := holder.getparent()) is not None:
                        parent.remove(holder)

    def _shift_table(self, table: Table) -> None:
        if self._shift.swallows(table.area):
            self._drop_table(table)
            return
        fate = shift_table(table, self._shift)
        if fate is None:
            return
        self.count += 1
        self._package.changed(table.part)
        self._write_headers(fate)
        if fate.gone:
            lost = columns_lost(self._package, table.name, frozenset(fate.gone), fate.order)
            self._note_lost(lost)

    def _write_headers(self, fate: Fate) -> None:
        grid = self._parts.grid(self._sheet)
        for at, name in fate.headers.items():
            element = grid.row(at.row)
            row = Row(grid.add_row(at.row) if element is None else element, at.row)
            cell = row.find(at.column)
            write(row.add(at.column) if cell is None else cell, decode(name))
            self._parts.changes.cell(self._sheet.part, at)

    def _drop_table(self, table: Table) -> None:
        package, part = self._package, self._sheet.part
        arrows = Relationships(package, part)
        arrow = next(each for each in arrows.of_type("table") if each.target == table.part)
        name = table.name
        self._note_lost(tables_lost(package, frozenset({name.casefold()})))
        reached = reachable(package, table.part)
        arrows.remove(arrow.id)
        for each in sorted(reached - reachable(package, "")):
            drop(package, each)
        root = package.tree(part)
        for listed in list(root.iter(main("tablePart"))):
            if listed.get(RELATION) == arrow.id and (holder := listed.getparent()) is not None:
                holder.remove(listed)
                holder.set("count", str(len(holder)))
                if not len(holder):
                    root.remove(holder)
        self._gone.append(f"the table {name}")

    def _note_lost(self, found: list[tuple[str, Element]]) -> None:
        called = {each.part: each.name for each in self._parts.sheets.all}
        self._lost += (place_in_words(part, holder, called) for part, holder in found)
        self.count += len(found)

    def _shift_objects(self) -> None:
        """Move what the sheet's other parts say of its cells."""
        package, shift = self._package, self._shift
        for arrow in list(Relationships(package, self._sheet.part)):
            kind = arrow.type.rsplit("/", 1)[-1]
            if arrow.is_external or arrow.target not in package:
                continue
            if kind not in _OBJECTS:
                continue
            root = package.tree(arrow.target)
            before = etree.tostring(root)
            if kind == "drawing":
                self._tell_collapsed(shift_anchors(root, shift))
            elif kind == "vmlDrawing":
                if self._is_of_cells(arrow.id):
                    shift_boxes(root, shift)
            elif kind == "pivotTable":
                self._shift_pivot(root)
            else:
                gone = list(shift_comments(root, shift))
                self._gone += (f"the comment {said!r}" for said in gone if kind in {"comments", "threadedComment"})
            if etree.tostring(root) != before:
                self.count += 1
                package.changed(arrow.target)

    def _is_of_cells(self, arrow: str) -> bool:
        """Tell whether boxes stand on cells, not above and below pages."""
        header = self._package.tree(self._sheet.part).find(main("legacyDrawingHF"))
        return header is None or header.get(RELATION) != arrow

    def _shift_pivot(self, root: Element) -> None:
        location = root.find("{*}location")
        known = None if location is None else area(location.get("ref"))
        moved = None if known is None else self._shift.area(known)
        if location is not None and moved is not None:
            location.set("ref", str(moved))

    def _tell_collapsed(self, names: Iterator[str]) -> None:
        self._gone += (f"{name or 'a drawing'!r} stood on deleted cells only, and has no size now" for name in names)


def edit_grid(parts: Parts, sheet_name: str, shift: Shift) -> tuple[str, int, list[EditWarning]]:
    """Shift rows or columns; return the sheet's node id, how many references read otherwise, and what to warn of."""
    sheet = parts.sheets.with_cells(sheet_name)
    if shift.at > shift.limit or (not shift.inserts and shift.end - 1 > shift.limit):
        last = str(shift.limit) if shift.is_of_rows else letters(shift.limit)
        raise InvalidEditError(f"a sheet's {shift.axis.value} end at {last}: {shift} is beyond")
    edit = GridEdit(parts, sheet, shift)
    edit.apply()
    return sheet.id, edit.count, list(edit.warnings())


def _is_under_header(table: Table, shift: Shift) -> bool:
    return table.has_header and shift.at == table.area.top + 1 and Address(shift.at, table.area.left) in table.area
