"""The parts of a workbook, each parsed and looked through once for as long as it stays parsed."""

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.shared_strings import SharedStrings
from officeplane.formats.excel.cells.styles import Styles
from officeplane.formats.excel.sheets.sheet_list import Sheet, Sheets
from officeplane.formats.excel.sheets.tables import Table, tables_of
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, main_part


class Parts:
    """Finds what a workbook is made of; a rollback of the package is noticed."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.workbook = main_part(package)
        root = package.tree(self.workbook)
        if root.tag != main("workbook"):
            raise UnsupportedDocumentError("damaged", "the file's main part is no workbook; save it as .xlsx")
        self._grids: dict[str, Grid] = {}
        self._strings: SharedStrings | None = None

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
            found = self._grids[sheet.part] = Grid(root)
        return found

    def forget(self, part: str) -> None:
        """Look through the cells of a sheet anew, by its part: they, or formulas that they share, are elsewhere now."""
        self._grids.pop(part, None)

    def tables(self, sheet: Sheet) -> list[Table]:
        """Return the tables of a sheet."""
        return list(tables_of(self.package, sheet.part))

    def all_tables(self) -> list[Table]:
        """Return the tables of all sheets."""
        return [table for sheet in self.sheets.all for table in self.tables(sheet)]
