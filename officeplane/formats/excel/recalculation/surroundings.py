"""Surroundings: the sheets, names and tables by which formulas of a workbook call cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from officeplane.formats.excel.cells.addresses import Area


class KnownTable(NamedTuple):
    """A table: its sheet by its place, its cells, and its columns in small letters, as formulas write them."""

    sheet: int
    area: Area
    has_header: bool
    has_totals: bool
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Surroundings:
    """All of them as they are now; as long as two are equal, formulas mean the same cells."""

    sheets: Mapping[str, int]
    names: Mapping[tuple[str, int | None], str]
    tables: Mapping[str, KnownTable]

    def name(self, name: str, sheet: int) -> str | None:
        """Return what a name stands for on a sheet, None when it stands for nothing."""
        folded = name.casefold()
        own = self.names.get((folded, sheet))
        return self.names.get((folded, None)) if own is None else own
