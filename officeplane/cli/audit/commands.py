"""The `officeplane audit` command: its arguments, and nothing heavy before it is chosen."""

import asyncio
from typing import Annotated

import typer

from officeplane.cli.options import DEFAULT_URL, AsJson, Url


def audit(
    *,
    by: Annotated[str | None, typer.Option(help="Only by this principal, such as key:bot or local.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this, such as key.create or task.cancel.")] = None,
    target: Annotated[str | None, typer.Option(help="Only done to this task, document, DAG, type or key.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Since so long ago, such as 2h or 7d, or since an RFC 3339 time.", metavar="TIME")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Before that; written as --since.", metavar="TIME")] = None,
    space: Annotated[str | None, typer.Option(help="In this space; else in that of your key.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List who has changed what, the latest first."""
    from officeplane.cli.audit.showing import list_deeds, time_in

    filters = {
        "by": by,
        "action": action,
        "target": target,
        "since": None if since is None else time_in("--since", since),
        "until": None if until is None else time_in("--until", until),
        "space": space,
    }
    asyncio.run(list_deeds(url, {name: value for name, value in filters.items() if value}, limit, as_json=as_json))
