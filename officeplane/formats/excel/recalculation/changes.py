"""Changes: what an edit has done to cells and to what formulas call them by, until results follow."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from officeplane.formats.excel.cells.addresses import Address, Area


@dataclass(slots=True)
class Changes:
    """What has changed since results were last in order; sheets are named by their parts."""

    cells: dict[str, set[Address]] = field(default_factory=dict[str, set[Address]])
    areas: dict[str, list[Area]] = field(default_factory=dict[str, list[Area]])
    formulas: dict[str, set[Address]] = field(default_factory=dict[str, set[Address]])
    """Those of the cells that had a formula, or have one now."""
    names: set[str] = field(default_factory=set[str])
    """Names, in small letters, that stand for something else."""
    has_moved: bool = False
    """Whether something is elsewhere, or hidden or shown: sheets, rows, columns."""

    def __bool__(self) -> bool:
        return bool(self.cells or self.areas or self.names or self.has_moved)

    def cell(self, part: str, at: Address) -> None:
        """Note a cell that holds something else, or what reads otherwise."""
        self.cells.setdefault(part, set()).add(at)

    def formula(self, part: str, at: Address) -> None:
        """Note a cell whose formula came or went."""
        self.cell(part, at)
        self.formulas.setdefault(part, set()).add(at)

    def area(self, part: str, area: Area) -> None:
        """Note cells that hold something else."""
        self.areas.setdefault(part, []).append(area)

    def of_sheet(self, part: str) -> Iterator[Area]:
        """Yield all that has changed in a sheet, cells below each other as one area."""
        yield from self.areas.get(part, ())
        first = last = None
        for at in sorted(self.cells.get(part, ()), key=lambda cell: (cell.column, cell.row)):
            if first is None or last is None or at != Address(last.row + 1, last.column):
                if first is not None and last is not None:
                    yield Area(*first, *last)
                first = at
            last = at
        if first is not None and last is not None:
            yield Area(*first, *last)
