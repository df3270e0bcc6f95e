"""`officeplane tasks list`: the newest tasks that match, over as many pages as it takes."""

import json

from officeplane.cli.answers import TASKS
from officeplane.cli.client import Query
from officeplane.cli.console import out, remarks, show, write_json
from officeplane.cli.pages import read_pages
from officeplane.cli.texts import utc_now
from officeplane.cli.views import task_table


async def list_tasks(url: str, filters: Query, limit: int, *, as_json: bool) -> None:
    """Print up to `limit` tasks, newest first."""
    items, there_is_more = await read_pages(url, "/api/tasks", filters, limit)
    if as_json:
        write_json(json.dumps(items, ensure_ascii=False))
        return
    tasks = TASKS.validate_python(items)
    if tasks:
        show(task_table(tasks, utc_now(), out().width), [task.id for task in tasks])
    else:
        remarks().print("No tasks match.")
    if there_is_more:
        remarks().print(f"These are the newest {limit}; --limit shows more.")
