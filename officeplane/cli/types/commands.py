"""The `officeplane types` command: its arguments, and nothing heavy before it is chosen."""

import asyncio
from typing import Annotated

import typer

from officeplane.cli.options import DEFAULT_URL, AsJson, Url


def types(
    name: Annotated[
        str | None, typer.Argument(metavar="TYPE", help="The type to show in full; all are listed if none is given.")
    ] = None,
    *,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List task types, or show the fields of one and an example of it."""
    from officeplane.cli.types.showing import list_types, show_type

    if name is None:
        asyncio.run(list_types(url, as_json=as_json))
    else:
        asyncio.run(show_type(url, name, as_json=as_json))
