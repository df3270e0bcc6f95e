"""The parts of a workbook, each parsed and looked through once for as long as it stays parsed."""

import re
from typing import Final

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.shared_strings import SharedStrings
from officeplane.formats.excel.cells.styles import Styles
from officeplane.formats.excel.recalculation.changes import Changes
from officeplane.formats.excel.recalculation.formulas import Formulas
from officeplane.formats.excel.recalculation.kinds import Readings
from officeplane.formats.excel.sheets.sheet_list import Sheet, Sheets
from officeplane.formats.excel.sheets.tables import Table, tables_of
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, main_part
from officeplane.formats.xml import Element

_HAS_FORMULA: Final = re.compile(rb"<(?:\w+:)?f[\s>/]")


class Parts:
    """Finds what a workbook is made of; a rollback of the package is noticed."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.workbook = main_part(package)
        root = package.tree(self.workbook)
        if root.tag != main("workbook"):
            raise UnsupportedDocumentError("damaged", "the file's main part is no workbook; save it as .xlsx")
        self._grids: dict[str, Grid] = {}
        self._named: dict[str, Element] = {}
        self._strings: SharedStrings | None = None
        self._changes: tuple[Element, Changes] | None = None
        self._has_formulas: dict[str, tuple[object, bool]] = {}
        self.readings = Readings()
        self.formulas: Formulas | None = None
        """What is known of its formulas from one edit to the next."""

    @property
    def changes(self) -> Changes:
        """What has changed since results were last in order."""
        root = self.package.tree(self.workbook)
        if self._changes is None or self._changes[0] is not root:
            self._changes = (root, Changes())
        return self._changes[1]

    def settle_changes(self) -> Changes:
        """Return the same, and begin anew."""
        found = self.changes
        self._changes = None
        return found

    @property
    def sheets(self) -> Sheets:
        """The sheets as they are now."""
        return Sheets(self.package, self.workbook)

    @property
    def styles(self) -> Styles:
        """The styles as they are now."""
        return Styles(self.package, self.workbook)

    @property
    def strings(self) -> SharedStrings:
        """The shared strings, which a workbook need not have."""
        root = None if self.strings_part is None else self.package.tree(self.strings_part)
        if self._strings is None or self._strings.root is not root:
            self._strings = SharedStrings(root)
        return self._strings

    @property
    def strings_part(self) -> str | None:
        """The part that holds the shared strings."""
        for arrow in Relationships(self.package, self.workbook).of_type("sharedStrings"):
            if arrow.target in self.package:
                return arrow.target
        return None

    def grid(self, sheet: Sheet) -> Grid:
        """Return the cells of a sheet."""
        root = self.package.tree(sheet.part)
        found = self._grids.get(sheet.part)
        if found is None or found.root is not root:
            is_named = self._named.pop(sheet.part, None) is root
            found = self._grids[sheet.part] = Grid(root, is_named=is_named)
        return found

    def forget(self, part: str) -> None:
        """Look through the cells of a sheet anew, by its part: they, or formulas that they share, are elsewhere now."""
        if (known := self._grids.pop(part, None)) is not None:
            # Cells that have moved say where they are.
            self._named[part] = known.root

    def has_formulas(self, sheet: Sheet) -> bool:
        """Tell whether a sheet may have formulas; one that nobody has looked at is not parsed for that."""
        if not sheet.has_cells or self.package.is_parsed(sheet.part):
            return sheet.has_cells
        stored = self.package.stored(sheet.part)
        known = self._has_formulas.get(sheet.part)
        if known is None or known[0] is not stored:
            content = self.package.content(sheet.part)
            # Letters of two bytes are looked at as such.
            found = b"\0" in content[:64] or _HAS_FORMULA.search(content) is not None
            known = self._has_formulas[sheet.part] = (stored, found)
        return known[1]

    def tables(self, sheet: Sheet) -> list[Table]:
        """Return the tables of a sheet."""
        return list(tables_of(self.package, sheet.part))

    def all_tables(self) -> list[Table]:
        """Return the tables of all sheets."""
        return [table for sheet in self.sheets.all for table in self.tables(sheet)]
