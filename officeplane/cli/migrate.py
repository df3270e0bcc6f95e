"""`officeplane migrate`: bring the database to the schema of this version."""

from typing import Annotated

import typer

from officeplane.cli.exits import RefusedError


def migrate(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print the names applied as a JSON list.")] = False
) -> None:
    """Bring the database to the schema of this version; safe to repeat and to run from many places."""
    import asyncio
    import json

    from officeplane.cli.environment import read_settings, require_database
    from officeplane.cli.ledger import unreachable
    from officeplane.domain.errors import DatabaseUnavailableError
    from officeplane.store.doctor import reached
    from officeplane.store.migrate import MigrationChangedError
    from officeplane.store.migrate import migrate as apply

    settings = require_database(read_settings())
    try:
        with reached():
            applied = asyncio.run(apply(settings.database_url))
    except DatabaseUnavailableError as error:
        raise unreachable(settings, error) from None
    except MigrationChangedError as error:
        raise RefusedError(str(error)) from None
    if as_json:
        typer.echo(json.dumps(applied))
    else:
        for name in applied or ["nothing to do"]:
            typer.echo(f"applied {name}" if applied else name)
