"""`officeplane doctor`: what is wrong with this installation, and what to do about it."""

from typing import Annotated

import typer

from officeplane.cli.options import DEFAULT_URL, Url


def doctor(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON and nothing else.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Say what is wrong with this installation, and what to do about it."""
    import asyncio

    from officeplane.cli.console import show, write_json
    from officeplane.cli.doctor.examination import examine
    from officeplane.cli.doctor.findings import as_json as written
    from officeplane.cli.doctor.findings import finding_lines
    from officeplane.cli.texts import compact

    diagnosis = asyncio.run(examine(url))
    if as_json:
        write_json(compact(written(diagnosis.findings)))
    else:
        for line in finding_lines(diagnosis.findings):
            show(line)
    raise typer.Exit(diagnosis.exit_code)
