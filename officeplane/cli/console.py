"""Where the command line writes: results on stdout, remarks on stderr, tables that stay whole when piped."""

import sys
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.table import Table

from officeplane.cli.short_ids import remember

# Nobody reads a pipe by the width of a window: a cut or folded id would be lost on the next program.
PIPED_WIDTH = 100_000


def out() -> Console:
    """Return a console on stdout."""
    # No markup: what is shown holds the users' own brackets.
    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)


def show(picture: RenderableType, ids: Iterable[str] = ()) -> None:
    """Print on stdout, remembering `ids` that may be short in it; for a pipe without ornaments and filling blanks."""
    console = out()
    if console.is_terminal:
        console.print(picture)
        remember(ids)
        return
    if isinstance(picture, Table):
        picture.box = None
    with console.capture() as capture:
        console.print(picture)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def remarks() -> Console:
    """Return a console on stderr."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def write_json(text: str) -> None:
    """Write JSON as it came, and a newline."""
    sys.stdout.write(f"{text.rstrip()}\n")
