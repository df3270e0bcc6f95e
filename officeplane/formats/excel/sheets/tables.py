"""Tables: the parts that say which cells of a sheet are one, and what its columns are called."""

from collections.abc import Iterator, Sequence
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area, area
from officeplane.formats.excel.cells.texts import decode, encode
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

_COLUMNS: Final = main("tableColumns")
_FILTER: Final = main("autoFilter")
_TOTAL_FORMULA: Final = main("totalsRowFormula")
_CALCULATED: Final = main("calculatedColumnFormula")


class Table:
    """One table of a sheet."""

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        self.part = part
        self.root: Element = package.tree(part)
        self.area = area(self.root.get("ref")) or Area(0, 0, 0, 0)
        self.has_header = self.root.get("headerRowCount", "1") != "0"
        self.has_totals = self.root.get("totalsRowCount", "0") != "0"

    @property
    def name(self) -> str:
        """The name that formulas use."""
        return self.root.get("displayName") or self.root.get("name") or ""

    @property
    def id(self) -> str:
        """The id of its node."""
        return f"table-{self.root.get('id', self.name)}"

    def is_header(self, cell: Address) -> bool:
        """Tell whether a cell holds the name of a column."""
        return self.has_header and cell in self.area and cell.row == self.area.top

    def is_total(self, cell: Address) -> bool:
        """Tell whether a cell is in the row of totals."""
        return self.has_totals and cell in self.area and cell.row == self.area.bottom

    def rename_column(self, cell: Address, name: str) -> str | None:
        """Call the column under a cell of the header otherwise; return how it was called, None if the same."""
        column = self._column(cell)
        stored = encode(name.replace("\r\n", "\n")).replace("\n", "_x000a_")
        if column is None or column.get("name") == stored:
            return None
        if not name:
            raise InvalidEditError(f"{cell} names a column of the table {self.name}: it needs a text")
        for other in (*column.itersiblings(preceding=True), *column.itersiblings()):
            if other.get("name", "").casefold() == stored.casefold():
                raise InvalidEditError(
                    f"the table {self.name} has a column {name!r} already: choose another text for {cell}"
                )
        before = column.get("name", "")
        column.set("name", stored)
        self._package.changed(self.part)
        return decode(before)

    def set_total(self, cell: Address, *, label: str | None, formula: str | None) -> None:
        """Note what now stands in the row of totals."""
        column = self._column(cell)
        if column is None:
            return
        for name in ("totalsRowFunction", "totalsRowLabel"):
            column.attrib.pop(name, None)
        for child in column.findall(_TOTAL_FORMULA):
            column.remove(child)
        if label:
            column.set("totalsRowLabel", label)
        if formula is not None:
            column.set("totalsRowFunction", "custom")
            made = etree.Element(_TOTAL_FORMULA)
            made.text = formula
            before = column.find(_CALCULATED)
            if before is None:
                column.insert(0, made)
            else:
                before.addnext(made)
        self._package.changed(self.part)

    def calculated_columns(self) -> list[int]:
        """Return the columns whose cells all have the same formula."""
        columns = self.root.find(_COLUMNS)
        given = () if columns is None else enumerate(columns, self.area.left)
        return [at for at, column in given if column.find(_CALCULATED) is not None]

    def would_take(self, first: int, last: int, width: int) -> bool:
        """Tell whether rows from the first column on would be written right under it and belong to it."""
        if self.has_totals or width < self.area.left or last <= self.area.bottom:
            return False
        return self.area.top < first <= self.area.bottom + 1

    def take_rows(self, last: int) -> None:
        """Grow down to this row."""
        self.area = Area(self.area.top, self.area.left, last, self.area.right)
        self.root.set("ref", str(self.area))
        found = self.root.find(_FILTER)
        if found is not None:
            found.set("ref", str(self.area))
        self._package.changed(self.part)

    @property
    def column_names(self) -> list[str]:
        """What its columns are called."""
        columns = self.root.find(_COLUMNS)
        return [] if columns is None else [decode(column.get("name", "")) for column in columns]

    def stretch(self, area: Area, names: Sequence[str]) -> None:
        """Lie in other cells, with columns of these names; those that are there already keep what they are."""
        columns = self.root.find(_COLUMNS)
        if columns is None:
            return
        held = list(columns)
        for column in held[len(names) :]:
            columns.remove(column)
        number = max((int(each.get("id", "0")) for each in held if each.get("id", "0").isdecimal()), default=0)
        for at, name in enumerate(names):
            if at >= len(held):
                number += 1
                held.append(etree.SubElement(columns, main("tableColumn"), id=str(number)))
            held[at].set("name", encode(name.replace("\r\n", "\n")).replace("\n", "_x000a_"))
        columns.set("count", str(len(names)))
        self.area = area
        self.root.set("ref", str(area))
        found = self.root.find(_FILTER)
        if found is not None:
            found.set("ref", str(area))
        self._package.changed(self.part)

    def _column(self, cell: Address) -> Element | None:
        columns = self.root.find(_COLUMNS)
        at = cell.column - self.area.left
        return columns[at] if columns is not None and at < len(columns) else None


def tables_of(package: Package, sheet: str) -> Iterator[Table]:
    """Yield the tables of a sheet, by its part."""
    for arrow in Relationships(package, sheet).of_type("table"):
        if arrow.target in package:
            yield Table(package, arrow.target)
