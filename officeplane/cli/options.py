"""Options that several commands share."""

from typing import Annotated

import typer

DEFAULT_URL = "http://127.0.0.1:8001"


def _found(context: typer.Context, parameter: typer.CallbackParam, url: str) -> str:
    """Return what was given, else where the installation that `officeplane up` runs here answers."""
    from officeplane.local import local_installation

    source = context.get_parameter_source(str(parameter.name))
    if source is None or source.name != "DEFAULT":
        return url
    local = local_installation()
    return url if local is None else local.url


Url = Annotated[
    str,
    typer.Option(
        "--url",
        envvar="OFFICEPLANE_URL",
        callback=_found,
        help="Where the API answers.",
        metavar="URL",
        show_default=f"that of `officeplane up` in this folder or above, else {DEFAULT_URL}",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the API's JSON and nothing else.")]
By = Annotated[str | None, typer.Option("--by", help="Who does it; your user name if none is given.", metavar="WHO")]


def whole(given: str | list[str] | None) -> str | list[str] | None:
    """Return whole ids for what may be their ends, as lists show them in a narrow window."""
    if not given:
        return given
    from officeplane.cli.short_ids import whole_id

    return whole_id(given) if isinstance(given, str) else [whole_id(one) for one in given]


TaskId = Annotated[str, typer.Argument(metavar="TASK_ID", help="The id of a task, or its end.", callback=whole)]
SomeTaskId = Annotated[
    str | None,
    typer.Argument(metavar="TASK_ID", help="The id of a task, or its end; none with filters.", callback=whole),
]
TaskIds = Annotated[list[str] | None, typer.Argument(metavar="TASK_ID", help="The tasks to follow.", callback=whole)]
ParentId = Annotated[
    str | None, typer.Option("--parent", help="Only children of this task.", metavar="TASK_ID", callback=whole)
]
DagId = Annotated[str, typer.Argument(metavar="DAG_ID", help="The id of a DAG, or its end.", callback=whole)]
