"""`officeplane worker`: one worker process."""

from typing import Annotated

import typer


def worker(
    *,
    concurrency: Annotated[int | None, typer.Option(min=1, help="How many tasks at once.")] = None,
    handlers: Annotated[
        list[str] | None, typer.Option(help="A module with handlers to load; may repeat.", metavar="MODULE")
    ] = None,
) -> None:
    """Run tasks until stopped; Ctrl-C or SIGTERM lets what runs finish first."""
    import uvloop

    from officeplane.cli.collector import relax_collector
    from officeplane.cli.confinement import check_confinement
    from officeplane.cli.environment import read_settings, require_database
    from officeplane.cli.handlers import check_handlers
    from officeplane.cli.ledger import check_ledger, unreachable
    from officeplane.domain.errors import DatabaseUnavailableError
    from officeplane.telemetry.logs import configure_logs
    from workers.pool import run_worker

    modules = tuple(handlers) if handlers else None
    settings = check_handlers(require_database(read_settings(concurrency=concurrency, handlers=modules)))
    check_ledger(settings)
    configure_logs(settings)
    check_confinement(settings)
    relax_collector()
    try:
        raise typer.Exit(uvloop.run(run_worker(settings)))
    except DatabaseUnavailableError as error:
        raise unreachable(settings, error) from None
