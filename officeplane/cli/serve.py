"""`officeplane serve`: the API over HTTP."""

from typing import Annotated

import typer


def serve(
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 for a free one.")] = None,
) -> None:
    """Serve the API; Ctrl-C or SIGTERM answers what was asked first."""
    from officeplane.cli.callers import check_callers, check_people
    from officeplane.cli.collector import relax_collector
    from officeplane.cli.confinement import check_confinement
    from officeplane.cli.environment import read_settings, require_database
    from officeplane.cli.handlers import check_handlers
    from officeplane.cli.hosting import host_server, listen
    from officeplane.cli.ledger import check_ledger
    from officeplane.server import create_app
    from officeplane.telemetry.logs import configure_logs

    settings = check_handlers(require_database(read_settings(host=host, port=port)))
    check_people(settings)
    configure_logs(settings)
    with listen(settings) as listener:
        check_ledger(settings, may_come_later=True)
        check_callers(settings)
        check_confinement(settings)
        relax_collector()
        raise typer.Exit(host_server(create_app(settings), settings, listener))
