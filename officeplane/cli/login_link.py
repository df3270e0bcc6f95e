"""`officeplane login-link`: a link with which somebody logs in once, made on the database."""

from typing import Annotated

import typer

from officeplane.cli.options import DEFAULT_URL, Url
from officeplane.domain.principal import Scope


def login_link(
    *,
    scope: Annotated[
        list[Scope] | None,
        typer.Option(help="What whoever logs in may do; once for each.", show_default="admin, which is everything"),
    ] = None,
    url: Url = DEFAULT_URL,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Print a link that logs somebody in, once and within 15 minutes; it is kept by nobody."""
    import json
    import sys

    from officeplane.cli.console import remarks, write_json
    from officeplane.cli.keys.keeping import me, on_ledger
    from officeplane.cli.texts import rfc3339
    from officeplane.services.access.login_links import LoginLinks

    made = on_ledger(lambda ledger: LoginLinks(ledger).create(me(), scope or [Scope.ADMIN]))
    link, scopes, until = url.rstrip("/") + made.path, sorted(made.scopes), rfc3339(made.expires_at)
    if as_json:
        write_json(json.dumps({"url": link, "scopes": scopes, "expiresAt": until}))
        return
    sys.stdout.write(f"{link}\n")
    remarks().print(f"It logs in once, until {until}, and whoever does may: {', '.join(scopes)}.")
