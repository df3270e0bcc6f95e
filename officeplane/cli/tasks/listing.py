"""`officeplane tasks list`: the newest tasks that match, over as many pages as it takes."""

import json

import httpx
from pydantic import JsonValue

from officeplane.cli.answers import ITEMS, TASKS
from officeplane.cli.client import Client, Query
from officeplane.cli.console import out, remarks, show, write_json
from officeplane.cli.texts import utc_now
from officeplane.cli.views import task_table

PAGE = 500


async def list_tasks(url: str, filters: Query, limit: int, *, as_json: bool) -> None:
    """Print up to `limit` tasks, newest first."""
    items, there_is_more = await _read(url, filters, limit)
    if as_json:
        write_json(json.dumps(items, ensure_ascii=False))
        return
    tasks = TASKS.validate_python(items)
    if tasks:
        show(task_table(tasks, utc_now(), out().width))
    else:
        remarks().print("No tasks match.")
    if there_is_more:
        remarks().print(f"These are the newest {limit}; --limit shows more.")


async def _read(url: str, filters: Query, limit: int) -> tuple[list[JsonValue], bool]:
    items: list[JsonValue] = []
    following: httpx.QueryParams | None = httpx.QueryParams({**filters, "limit": min(limit, PAGE)})
    async with Client(url) as client:
        while following is not None and len(items) < limit:
            page = await client.get("/api/tasks", following)
            items += ITEMS.validate_json(page.content)
            following = page.next_page
    return items[:limit], following is not None or len(items) > limit
