"""`officeplane migrate`: bring the database to the schema of this version."""

from typing import Annotated

import typer

from officeplane.cli.exits import RefusedError


def migrate(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print the names applied as a JSON list.")] = False
) -> None:
    """Bring the database to the schema of this version; safe to repeat and to run from many places.

    With OFFICEPLANE_OWNER_URL it works as that role, and lets the role of OFFICEPLANE_DATABASE_URL, as which all
    other processes run, read and write rows and nothing else.
    """
    import asyncio
    import json

    from officeplane.cli.environment import read_settings, require_database
    from officeplane.cli.ledger import unreachable
    from officeplane.domain.errors import DatabaseUnavailableError
    from officeplane.store.doctor import reached
    from officeplane.store.migrate import MigrationChangedError
    from officeplane.store.migrate import migrate as apply
    from officeplane.store.roles import RoleError, admit_app

    settings = require_database(read_settings())

    async def bring() -> list[str]:
        if not settings.owner_url:
            return await apply(settings.database_url)
        applied = await apply(settings.owner_url)
        await admit_app(settings.owner_url, settings.database_url)
        return applied

    try:
        with reached():
            applied = asyncio.run(bring())
    except DatabaseUnavailableError as error:
        raise unreachable(settings, error) from None
    except (MigrationChangedError, RoleError) as error:
        raise RefusedError(str(error)) from None
    if as_json:
        typer.echo(json.dumps(applied))
    else:
        for name in applied or ["nothing to do"]:
            typer.echo(f"applied {name}" if applied else name)
