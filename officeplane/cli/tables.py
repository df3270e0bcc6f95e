"""Tables that lose nothing: in a narrow window ids are short, and what has no column stands below its row."""

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from officeplane.cli.short_ids import ends_of, is_id

GAP = 3
FOLDED_WIDTH = 24
"""What a column whose texts may fold needs at most."""

IDS = frozenset({"id", "task"})
WHOLE = IDS | {"state", "worker"}

Row = Mapping[str, str | Text]


def lay_out(rows: Sequence[Row], width: int, expendable: Sequence[str] = ()) -> RenderableType:
    """Return a table of these rows; `expendable` names what goes below first when it is too wide, ids never do."""
    names = list(rows[0]) if rows else []
    if _has_room(rows, names, width):
        return _table(rows, names)
    rows = _shortened(rows, names)
    names = [name for name in names if any(str(row[name]) for row in rows)]
    others = [name for name in names[1:] if name != "id" and name not in expendable]
    below: list[str] = []
    for name in [*(name for name in expendable if name in names), *others]:
        if _has_room(rows, names, width):
            break
        names.remove(name)
        below.append(name)
    if not below:
        return _table(rows, names)
    # Each row is a table of its own, so all have to agree on widths.
    widths = {name: _width(rows, name) for name in names}
    return Group(*_stacked(rows, widths, [name for name in rows[0] if name in below]))


def _has_room(rows: Sequence[Row], names: Sequence[str], width: int) -> bool:
    return sum(_width(rows, name) for name in names) + GAP * (len(names) - 1) <= width


def _shortened(rows: Sequence[Row], names: Sequence[str]) -> Sequence[Row]:
    ends: dict[str, str] = {}
    for name in IDS.intersection(names):
        ends |= ends_of({text for row in rows if is_id(text := str(row[name]))})
    return [{name: ends.get(str(text), text) if name in IDS else text for name, text in row.items()} for row in rows]


def _table(rows: Sequence[Row], names: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for name in names:
        if name in WHOLE:
            table.add_column(name, no_wrap=True, min_width=_width(rows, name))
        else:
            table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(row[name] for name in names))
    return table


def _stacked(rows: Sequence[Row], widths: Mapping[str, int], below: Sequence[str]) -> Iterator[RenderableType]:
    heading: Row = {name: Text(name, style="bold") for name in widths}
    yield _line(heading, widths)
    for row in rows:
        yield _line(row, widths)
        said = Text("  ").join(Text(f"{name} ").append_text(Text(str(row[name]))) for name in below if str(row[name]))
        if said:
            said.stylize("dim")
            said.overflow = "fold"
            yield Padding(said, (0, 0, 0, 2))


def _line(row: Row, widths: Mapping[str, int]) -> Table:
    line = Table.grid(padding=(0, GAP, 0, 0))
    for name, width in widths.items():
        line.add_column(width=width, no_wrap=name in WHOLE, overflow="fold")
    line.add_row(*(row[name] for name in widths))
    return line


def _width(rows: Sequence[Row], name: str) -> int:
    needed = max(cell_len(str(text)) for text in (name, *(row[name] for row in rows)))
    return needed if name in WHOLE else min(needed, FOLDED_WIDTH)
