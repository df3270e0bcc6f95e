"""The `officeplane` program: its commands, and how they end.

Command modules import only typer and the standard library at the top, and the
rest inside the command: `officeplane --help` and completion stay quick.
"""

from typing import Annotated, NoReturn

import typer

from officeplane.cli import dags, dead_letters, documents, keys, spaces, tasks
from officeplane.cli.audit import audit
from officeplane.cli.bench import bench
from officeplane.cli.doctor import doctor
from officeplane.cli.exits import run_to_end
from officeplane.cli.login_link import login_link
from officeplane.cli.migrate import migrate
from officeplane.cli.serve import serve
from officeplane.cli.types import types
from officeplane.cli.up import up
from officeplane.cli.worker import worker

app = typer.Typer(
    help="OfficePlane: many agents and people edit the same Office documents, one task at a time.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(up)
app.command()(serve)
app.command()(worker)
app.command()(migrate)
app.command()(doctor)
app.command()(bench)
app.command()(login_link)
app.add_typer(tasks.app, name="tasks")
app.add_typer(documents.app, name="documents")
app.add_typer(dags.app, name="dags")
app.add_typer(dead_letters.app, name="dead-letters")
app.add_typer(keys.app, name="keys")
app.add_typer(spaces.app, name="spaces")
app.command()(types)
app.command()(audit)


def run() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    run_to_end(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"officeplane {version('officeplane')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


if __name__ == "__main__":
    run()
