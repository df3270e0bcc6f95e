"""The `officeplane spaces` commands: their arguments, and nothing heavy before one is chosen."""

from typing import Annotated

import typer

app = typer.Typer(help="List spaces, and say what each may use.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a space; the first is `default`.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List all spaces with what each may use."""
    from officeplane.cli.spaces.keeping import every
    from officeplane.cli.spaces.showing import show_spaces

    show_spaces(every(), as_json=as_json)


@app.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show what a space may use, and what it uses now."""
    from officeplane.cli.spaces.keeping import shown
    from officeplane.cli.spaces.showing import show_space

    show_space(name, *shown(name), as_json=as_json)


@app.command("set")
def set_(
    name: Name,
    quotas: Annotated[
        list[str],
        typer.Argument(
            metavar="QUOTA=NUMBER...", help="Such as maxDocuments=1000; `none` lifts a limit. What is not named stays."
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Say what a space may use; in every server it counts within a second."""
    from officeplane.cli.spaces.keeping import changed
    from officeplane.cli.spaces.showing import show_space

    show_space(name, *changed(name, quotas), as_json=as_json)
