"""Writing into a sheet: what has to be right around a cell when its content changes."""

from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area, area
from officeplane.formats.excel.cells.grid import Row
from officeplane.formats.excel.cells.number_formats import BUILT_IN, NumberFormats
from officeplane.formats.excel.cells.values import Formatted, Plain, Value, check_text, empty, write
from officeplane.formats.excel.formulas.calculation import forget_order
from officeplane.formats.excel.formulas.formula import Formula, storable
from officeplane.formats.excel.formulas.references import shift
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
        self._formats = NumberFormats(parts.package, parts.workbook)
        self._rows: dict[int, Row] = {}
        self._departures = Departures(self._grid)
        self._touched = False
        self._written: Area | None = None
        self._changes_formulas = False
        self._renamed: list[tuple[Table, str, str]] = []
        self._sheet_names = parts.sheets.names
        self._table_names: frozenset[str] | None = None
        self._filled: dict[Address, tuple[Formula, str]] = {}
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
        given, code = (value.value, value.format) if isinstance(value, Formatted) else (value, None)
        self._touched = True
        self._parts.changes.cell(self._sheet.part, at)
        if given is not None:
            self._check_merges(at)
        self._make_way(at)
        if isinstance(given, Formula) and not is_copied:
            given = self._stored(given)
        elif isinstance(given, str):
            check_text(given)
        self._tell_tables(at, given)
        row = self._row(at.row)
        cell = None if row is None else row.find(at.column)
        if cell is None:
            if given is None and code is None:
                return
            row = row or self._add_row(at.row)
            cell = row.add(at.column)
            if style := like or self._inherited(row.element, at.column):
                cell.set("s", style)
        self._free(cell)
        self._restyle(cell, given)
        self._show(cell, given, code)
        write(cell, self._formats.calendar.number(given) if isinstance(given, date | time) else given)
        if isinstance(given, Formula):
            self._note_formula(at)
        if given is None:
            if cell.get("s") is None and len(cell) == 0 and row is not None:
                row.remove(cell)
        elif self._written is None or at not in self._written:
            self._written = Area(*at, *at) if self._written is None else self._written.with_cell(at)

    def fill(self, at: Address, value: Value, origin: Address) -> None:
        """Give a cell a content; a formula that was written for another cell reads here as if it were filled in."""
        given, code = (value.value, value.format) if isinstance(value, Formatted) else (value, None)
        if at == origin or not isinstance(given, Formula):
            self.set(at, value)
            return
        known = self._filled.get(origin)
        if known is None or known[0] is not given:
            known = self._filled[origin] = (given, self._stored(given).text)
        here = Formula(shift(known[1], at.row - origin.row, at.column - origin.column))
        self.set(at, here if code is None else Formatted(here, code), is_copied=True)

    def follow(self, cell: Element, text: str, *, is_inline: bool) -> None:
        """Follow a text that was changed where it lies, in the cell or among the shared strings."""
        self._touched = self._touched or is_inline
        self._parts.changes.cell(self._sheet.part, place_of(cell))
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

    def _restyle(self, cell: Element, value: Plain) -> None:
        before = cell.get("s")
        if value is None:
            return
        after = self._styles.for_text(before, value) if isinstance(value, str) else self._styles.for_other(before)
        if after is not None and after != before:
            cell.set("s", after)
            self._touched = True

    def _show(self, cell: Element, value: Plain, code: str | None) -> None:
        """Give a cell the number format that is wanted, or one of dates if it has none and gets a date."""
        if code is None and isinstance(value, date | time):
            look = self._formats.look(cell.get("s"))
            code = None if (look.has_times if isinstance(value, time) else look.has_days) else _usual(value)
        if code is not None:
            cell.set("s", self._styles.with_number_format(cell.get("s"), code))

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
        self._parts.changes.area(self._sheet.part, joint)
        if spills:
            for spilled in self._grid.cells_in(joint):
                empty(spilled)
        elif formula.getparent() is cell:
            cell.remove(formula)
        self._note_formula(place_of(cell))

    def _note_formula(self, at: Address) -> None:
        """Note a cell whose formula comes or goes."""
        self._changes_formulas = True
        self._parts.changes.formula(self._sheet.part, at)

    def _free(self, cell: Element) -> None:
        formula = cell.find(FORMULA)
        if formula is not None:
            self._note_formula(place_of(cell))
            self._departures.leave(formula)

    def _tell_tables(self, at: Address, value: Plain) -> None:
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

    def _stored(self, formula: Formula) -> Formula:
        return Formula(storable(formula, self._sheet_names, self._names_of_tables()))

    def _names_of_tables(self) -> frozenset[str]:
        if self._table_names is None:
            self._table_names = frozenset(table.name.casefold() for table in self._parts.all_tables())
        return self._table_names


def _usual(value: date | time) -> str:
    """Return the format that Excel itself gives to a date or time that is typed in: people see it as at home."""
    match value:
        case datetime():
            return BUILT_IN[22]
        case date():
            return BUILT_IN[14]
        case _:
            return BUILT_IN[21 if value.second or value.microsecond else 20]
