"""Editing a sheet: what it is besides its cells."""

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Area, area, letters
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets import visibility
from officeplane.formats.excel.sheets.conditional_formats import ConditionalFormat, format_on_condition
from officeplane.formats.excel.sheets.filters import set_filter
from officeplane.formats.excel.sheets.freezing import freeze
from officeplane.formats.excel.sheets.merging import merge, unmerge
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.validations import Validation, validate


class SheetEditor:
    """One sheet, and what may be done to it."""

    def __init__(self, parts: Parts, name: str) -> None:
        self._parts = parts
        self._name = name
        self._sheet = parts.sheets.get(name)

    @property
    def id(self) -> str:
        """The id of its node."""
        return self._sheet.id

    def merge(self, place: str) -> list[Loss]:
        """Merge a range; return the contents that it covers and that are gone with it."""
        return merge(self._parts, self._cells, area_of(place))

    def unmerge(self, place: str) -> None:
        """Take apart all merged cells that a range touches."""
        unmerge(self._parts, self._cells, area_of(place))

    def freeze(self, cell: str | None) -> None:
        """Keep what is above and left of a cell in view, or nothing."""
        at = None if cell is None else area_of(cell).first
        freeze(self._parts.package.tree(self._cells.part), at)
        self._parts.package.changed(self._sheet.part)

    def filter(self, place: str | None) -> list[Loss]:
        """Give it a filter of a range, or none; return the conditions of the one before."""
        lost = set_filter(self._parts, self._cells, None if place is None else area_of(place))
        return [Loss("filter", self.id, each) for each in lost]

    def validate(self, wanted: Validation) -> None:
        """Say what may be typed into a range."""
        validate(self._parts, self._cells, wanted)

    def format_on_condition(self, wanted: ConditionalFormat) -> None:
        """Say how the cells of a range look when they hold something."""
        format_on_condition(self._parts, self._cells, wanted)

    def hide(self, *, is_hidden: bool) -> None:
        """Hide it or show it."""
        if is_hidden:
            visibility.hide(self._parts, self._sheet)
        else:
            visibility.show(self._parts, self._sheet)

    def color_tab(self, color: str | None) -> None:
        """Give its tab a colour or none."""
        if not self._sheet.part:
            raise InvalidEditError(
                f"the sheet {self._sheet.name!r} is an empty {self._sheet.kind}: it has no tab to colour"
            )
        visibility.color_tab(self._parts.package.tree(self._sheet.part), color)
        self._parts.package.changed(self._sheet.part)

    @property
    def _cells(self) -> Sheet:
        return self._parts.sheets.with_cells(self._name)


def area_of(name: str) -> Area:
    """Return the area of a range; what no sheet has is refused."""
    found = area(name)
    if found is None:
        raise InvalidEditError(f"there is no range {name}: a sheet ends at {letters(COLUMNS_MAX)}{ROWS_MAX}")
    return found
