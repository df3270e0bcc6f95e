"""`officeplane tasks watch`: changes brought before whoever watches, and the verdict at the end."""

from collections.abc import Sequence
from contextlib import aclosing

from officeplane.cli.answers import Task
from officeplane.cli.client import Client
from officeplane.cli.exits import ExitCode
from officeplane.cli.tasks.screens import open_screen
from officeplane.cli.tasks.watching import Sighting, plane_changes, task_changes


async def watch_tasks(url: str, task_ids: Sequence[str], *, as_json: bool) -> ExitCode:
    """Show these tasks until all are final; REFUSED when one did not complete."""
    latest: dict[str, Task] = {}
    async with Client(url) as client, aclosing(task_changes(client, task_ids)) as changes:
        with open_screen(as_json=as_json) as screen:
            async for change in changes:
                screen(change)
                if isinstance(change, Sighting) and isinstance(change.what, Task):
                    latest[change.what.id] = change.what
    return ExitCode.DONE if all(task.is_completed for task in latest.values()) else ExitCode.REFUSED


async def watch_plane(url: str, *, as_json: bool) -> None:
    """Show every event of the installation until interrupted."""
    async with Client(url) as client, aclosing(plane_changes(client)) as changes:
        with open_screen(as_json=as_json) as screen:
            async for change in changes:
                screen(change)
