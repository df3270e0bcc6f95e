"""Tables that keep ids whole: a narrow window gets fewer columns rather than cut ones."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

GAP = 3
FOLDED_WIDTH = 24
"""What a column whose texts may fold needs at most."""

WHOLE = frozenset({"id", "state", "worker"})

Row = Mapping[str, str | Text]


def lay_out(rows: Sequence[Row], width: int, expendable: Sequence[str] = ()) -> Table:
    """Return a table of these rows; `expendable` names the columns that go when it is too wide, the first first."""
    names = list(rows[0]) if rows else []
    for name in expendable:
        if sum(_width(rows, kept) for kept in names) + GAP * (len(names) - 1) <= width:
            break
        names.remove(name)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for name in names:
        if name in WHOLE:
            table.add_column(name, no_wrap=True, min_width=_width(rows, name))
        else:
            table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(row[name] for name in names))
    return table


def _width(rows: Sequence[Row], name: str) -> int:
    needed = max(cell_len(str(text)) for text in (name, *(row[name] for row in rows)))
    return needed if name in WHOLE else min(needed, FOLDED_WIDTH)
