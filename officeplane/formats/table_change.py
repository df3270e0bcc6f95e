"""What is to be changed in a table of a text or a slide; all places are those of the table as it was read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area, letters


@dataclass(frozen=True, slots=True)
class Lines:
    """Rows or columns next to each other: the first, counted from 1, how many, and what new ones say."""

    at: int
    count: int
    texts: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class TableChange:
    """What is asked for; done in this order."""

    cells: Mapping[Address, str] = field(default_factory=dict[Address, str])
    split: Sequence[Address] = ()
    merge: Sequence[Area] = ()
    insert_rows: Lines | None = None
    delete_rows: Lines | None = None
    insert_columns: Lines | None = None
    delete_columns: Lines | None = None
    style: str | None = None
    header_row: bool | None = None

    def check(self, rows: int, columns: int) -> None:
        """Raise `InvalidEditError` for places that a table of this size does not have."""
        size = f"the table has {rows} rows and {columns} columns, A1 to {letters(columns)}{rows}"
        for cell in (*self.cells, *self.split, *(Address(area.bottom, area.right) for area in self.merge)):
            if cell.row > rows or cell.column > columns:
                raise InvalidEditError(f"there is no cell {cell}: {size}")
        for new, lines, last in (
            (True, self.insert_rows, rows), (False, self.delete_rows, rows),
            (True, self.insert_columns, columns), (False, self.delete_columns, columns),
        ):  # fmt: skip
            if lines is None:
                continue
            is_column = lines is self.insert_columns or lines is self.delete_columns
            if any(len(texts) > (rows if is_column else columns) for texts in lines.texts):
                new_one = f"column has {rows}" if is_column else f"row has {columns}"
                raise InvalidEditError(f"a new {new_one} cells, and {max(map(len, lines.texts))} texts are given")
            what = f"column {letters(lines.at)}" if is_column else f"row {lines.at}"
            if new and lines.at > last + 1:
                after = letters(last + 1) if is_column else last + 1
                raise InvalidEditError(f"nothing can come before {what}: {size}; {after} is behind the last")
            if not new and lines.at + lines.count - 1 > last:
                raise InvalidEditError(f"{lines.count} from {what} on are more than there are: {size}")
            if not new and lines.count == last:
                raise InvalidEditError("nothing of the table would be left: delete it with delete_node")


def in_order(new: Lines | None, gone: Lines | None) -> Iterator[tuple[bool, Lines]]:
    """Yield what to insert (True) and to delete, so that the places of both are those of the table as it was read."""
    if new is not None and (gone is None or new.at >= gone.at + gone.count):
        yield True, new
        new = None
    if gone is not None:
        yield False, gone
    if new is not None and gone is not None:
        yield True, replace(new, at=min(new.at, gone.at))
