"""Options that several commands share."""

from typing import Annotated

import typer

DEFAULT_URL = "http://127.0.0.1:8001"

Url = Annotated[str, typer.Option("--url", envvar="OFFICEPLANE_URL", help="Where the API answers.", metavar="URL")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the API's JSON and nothing else.")]
TaskId = Annotated[str, typer.Argument(metavar="TASK_ID", help="The id of a task.")]
