"""Tables that keep ids whole and lose nothing: what a narrow window has no column for stands below its row."""

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

GAP = 3
FOLDED_WIDTH = 24
"""What a column whose texts may fold needs at most."""

WHOLE = frozenset({"id", "task", "state", "worker"})

Row = Mapping[str, str | Text]


def lay_out(rows: Sequence[Row], width: int, expendable: Sequence[str] = ()) -> RenderableType:
    """Return a table of these rows; `expendable` names what goes below first when it is too wide, ids never do."""
    names = list(rows[0]) if rows else []
    below: list[str] = []
    others = [name for name in names[1:] if name != "id" and name not in expendable]
    for name in (*expendable, *others):
        if sum(_width(rows, kept) for kept in names) + GAP * (len(names) - 1) <= width:
            break
        names.remove(name)
        below.append(name)
    if not below:
        return _table(rows, names)
    # Each row is a table of its own, so all have to agree on widths.
    widths = {name: _width(rows, name) for name in names}
    return Group(*_stacked(rows, widths, [name for name in rows[0] if name in below]))


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
