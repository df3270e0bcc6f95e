"""The `officeplane keys` commands: their arguments, and nothing heavy before one is chosen."""

from typing import Annotated

import typer

from officeplane.domain.principal import Scope

app = typer.Typer(help="Make, list, replace and revoke the keys by which callers are known.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(metavar="NAME-or-ID", help="The name of a key, or its id.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="By whom, or for what, it is used: letters, digits and . _ - @ :")],
    *,
    scope: Annotated[list[Scope], typer.Option(help="What it may do; once for each.")],
    expires: Annotated[
        str | None, typer.Option(help="After which time it ends to work, such as 30d or 12h.", metavar="TIME")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key, and print it: this once, for nobody keeps it."""
    from officeplane.cli.keys.keeping import me, on_keys, time_ahead
    from officeplane.cli.keys.showing import show_made

    expires_at = None if expires is None else time_ahead("--expires", expires)
    show_made(on_keys(lambda keys: keys.create(me(), name, scope, expires_at)), as_json=as_json)


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List all keys in the order in which they were made, those that do not work any more too."""
    from officeplane.cli.keys.keeping import all_keys, on_keys
    from officeplane.cli.keys.showing import show_keys

    show_keys(on_keys(all_keys), as_json=as_json)


@app.command()
def rotate(
    which: Which,
    *,
    overlap: Annotated[
        str, typer.Option(help="For how long the old one works yet, such as 1d; 0 if no longer at all.", metavar="TIME")
    ] = "1d",
    as_json: AsJson = False,
) -> None:
    """Make a key in the place of another, of the same name and scopes, and print it."""
    from officeplane.cli.keys.keeping import on_keys, rotated
    from officeplane.cli.keys.showing import show_made
    from officeplane.cli.spans import seconds_in

    overlap_seconds = seconds_in("--overlap", overlap)
    show_made(on_keys(lambda keys: rotated(keys, which, overlap_seconds)), as_json=as_json)


@app.command()
def revoke(which: Which, *, as_json: AsJson = False) -> None:
    """Have a key work no more, in any process, within a second; with a name all of that name."""
    from officeplane.cli.keys.keeping import on_keys
    from officeplane.cli.keys.showing import show_revoked

    show_revoked(on_keys(lambda keys: keys.revoke_all(which)), as_json=as_json)


@app.command()
def generate() -> None:
    """Print the text of a new key, known to no installation yet: for OFFICEPLANE_ADMIN_KEY."""
    from officeplane.services.access.api_keys import new_key_text

    typer.echo(new_key_text())
