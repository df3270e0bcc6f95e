"""Writing into a sheet: what has to be right around a cell when its content changes."""

from collections.abc import Set as AbstractSet
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area, area
from officeplane.formats.excel.cells.grid import Row
from officeplane.formats.excel.cells.values import Value, check_text, empty, write
from officeplane.formats.excel.formulas.calculation import calculate_on_load, forget_order
from officeplane.formats.excel.formulas.formula import Formula, storable
from officeplane.formats.excel.formulas.rewriting import column_renamed
from officeplane.formats.excel.formulas.shared import Departures, place_of
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.tables import Table
from officeplane.formats.excel.tags import FORMULA, main
from officeplane.formats.xml import Element

_DIMENSION: Final = main("dimension")
_COLUMN: Final = f"{main('cols')}/{main('col')}"


class SheetWriter:
    """Writes cells of one sheet; `finish` brings in order what depends on them."""

    def __init__(self, parts: Parts, sheet: Sheet, all_cells: AbstractSet[Address] = frozenset()) -> None:
        self._parts = parts
        self._sheet = sheet
        self._all_cells = all_cells
        self._grid = parts.grid(sheet)
        self._styles = parts.styles
        self._rows: dict[int, Row] = {}
        self._departures = Departures(self._grid)
        self._touched = False
        self._written: Area | None = None
        self._changes_formulas = False
        self._renamed: list[tuple[Table, str, str]] = []
        self._sheet_names = parts.sheets.names
        self._table_names: frozenset[str] | None = None
        self.tables = parts.tables(sheet)
        self._column_styles = [
            (whole(each.get("min"), 1), whole(each.get("max"), 0), each.get("style"))
            for each in self._grid.root.iterfind(_COLUMN)
            if each.get("style") is not None
        ]

    def set(self, at: Address, value: Value, like: str | None = None, *, is_copied: bool = False) -> None:
        """Give a cell a content; a new cell gets the format `like`, or that of its row or column.

        A formula copied from another cell is not checked again.
        """
        self._touched = True
        self._check_merges(at)
        self._make_way(at)
        if isinstance(value, Formula) and not is_copied:
            value = Formula(storable(value, self._sheet_names, self._names_of_tables()))
        elif isinstance(value, str):
            check_text(value)
        self._tell_tables(at, value)
        row = self._row(at.row)
        cell = None if row is None else row.find(at.column)
        if cell is None:
            if value is None:
                return
            row = row or self._add_row(at.row)
            cell = row.add(at.column)
            if style := like or self._inherited(row.element, at.column):
                cell.set("s", style)
        self._free(cell)
        self._restyle(cell, value)
        write(cell, value)
        self._changes_formulas = self._changes_formulas or isinstance(value, Formula)
        if value is None:
            if cell.get("s") is None and len(cell) == 0 and row is not None:
                row.remove(cell)
        elif self._written is None or at not in self._written:
            self._written = Area(*at, *at) if self._written is None else self._written.with_cell(at)

    def follow(self, cell: Element, text: str, *, is_inline: bool) -> None:
        """Follow a text that was changed where it lies, in the cell or among the shared strings."""
        self._touched = self._touched or is_inline
        self._tell_tables(place_of(cell), text)
        self._restyle(cell, text)

    def finish(self) -> None:
        """Bring in order what depends on the cells that were written."""
        package, workbook = self._parts.package, self._parts.workbook
        dimension = self._grid.root.find(_DIMENSION)
        if self._written is not None and dimension is not None and (known := area(dimension.get("ref"))) is not None:
            both = known.with_cell(self._written.first).with_cell(Address(self._written.bottom, self._written.right))
            if both != known:
                dimension.set("ref", str(both))
        self._departures.settle()
        if self._touched:
            package.changed(self._sheet.part)
        for table, before, after in self._renamed:
            column_renamed(package, table.name, before, after)
        if self._changes_formulas:
            forget_order(package, workbook)
        calculate_on_load(package, workbook)

    def _row(self, number: int) -> Row | None:
        known = self._rows.get(number)
        if known is None and (element := self._grid.row(number)) is not None:
            known = self._rows[number] = Row(element, number)
        return known

    def _add_row(self, number: int) -> Row:
        made = self._rows[number] = Row(self._grid.add_row(number), number)
        return made

    def _inherited(self, row: Element, column: int) -> str | None:
        if row.get("customFormat") in {"1", "true"}:
            return row.get("s")
        return next((style for first, last, style in self._column_styles if first <= column <= last), None)

    def _restyle(self, cell: Element, value: Value) -> None:
        before = cell.get("s")
        if value is None:
            return
        after = self._styles.for_text(before, value) if isinstance(value, str) else self._styles.for_other(before)
        if after is not None and after != before:
            cell.set("s", after)
            self._touched = True

    def _check_merges(self, at: Address) -> None:
        merge = self._grid.merges.at(at)
        if merge is not None and merge.first != at:
            raise InvalidEditError(f"{at} is covered by the merged cells {merge}: write to {merge.first}")

    def _make_way(self, at: Address) -> None:
        """Refuse to break a formula that fills several cells; one that spills takes its results back."""
        joint = self._grid.joint_areas.at(at)
        formula = None if joint is None else self._grid.joint.get(joint)
        cell = None if formula is None else formula.getparent()
        if joint is None or formula is None or cell is None:
            return
        if formula.get("t") == "dataTable":
            raise InvalidEditError(
                f"{at} is in the data table {joint}, whose cells Excel calculates: it cannot be written"
            )
        spills = cell.get("cm") is not None and at == joint.first
        if joint.size > 1 and not spills and not all(each in self._all_cells for each in joint.cells()):
            raise InvalidEditError(f"{at} is part of the array formula in {joint}: write all of its cells or none")
        if spills:
            for spilled in self._grid.cells_in(joint):
                empty(spilled)
        elif formula.getparent() is cell:
            cell.remove(formula)
        self._changes_formulas = True

    def _free(self, cell: Element) -> None:
        formula = cell.find(FORMULA)
        if formula is not None:
            self._changes_formulas = True
            self._departures.leave(formula)

    def _tell_tables(self, at: Address, value: Value) -> None:
        for table in self.tables:
            if table.is_header(at):
                if not isinstance(value, str):
                    raise InvalidEditError(f"{at} names a column of the table {table.name}: it needs a text")
                before = table.rename_column(at, value)
                if before is not None:
                    self._renamed.append((table, before, value))
            elif table.is_total(at):
                table.set_total(
                    at,
                    label=value if isinstance(value, str) else None,
                    formula=value.text if isinstance(value, Formula) else None,
                )

    def _names_of_tables(self) -> frozenset[str]:
        if self._table_names is None:
            self._table_names = frozenset(table.name.casefold() for table in self._parts.all_tables())
        return self._table_names
