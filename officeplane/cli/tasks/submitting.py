"""`officeplane tasks submit`: one task or a bulk goes in, and may be waited for."""

import json
import math
import time

from pydantic import JsonValue

from officeplane.cli.answers import ITEMS, TASKS, Task
from officeplane.cli.client import Answer, Client, task_path
from officeplane.cli.console import out, remarks, show, write_json
from officeplane.cli.details import task_details
from officeplane.cli.exits import ExitCode, RefusedError, UsageError
from officeplane.cli.tasks.bodies import JSON, is_bulk
from officeplane.cli.texts import utc_now
from officeplane.cli.views import task_table

LONGEST_WAIT_SECONDS = 60


async def submit(url: str, body: bytes, key: str | None, wait_seconds: float | None, *, as_json: bool) -> ExitCode:
    """Hand in a body and print the task or tasks made; REFUSED when waited for and not COMPLETED."""
    bulk = is_bulk(body)
    if bulk and key is not None:
        raise UsageError("--key is for a single task; in a list each body has its own `idempotencyKey`.")
    headers = {} if key is None else {"Idempotency-Key": key}
    async with Client(url) as client:
        answer = await client.post("/api/tasks/bulk" if bulk else "/api/tasks", body, headers)
        items = ITEMS.validate_json(answer.content) if bulk else [JSON.validate_json(answer.content)]
        if wait_seconds is not None:
            items = await _wait(client, items, wait_seconds)
    tasks = TASKS.validate_python(items)
    if as_json:
        write_json(json.dumps(items if bulk else items[0], ensure_ascii=False))
    else:
        _tell(tasks, answer, waited=wait_seconds is not None)
    return ExitCode.DONE if wait_seconds is None else _verdict(tasks, wait_seconds)


async def _wait(client: Client, items: list[JsonValue], seconds: float) -> list[JsonValue]:
    """Return the tasks as they are once final, or when the time is up."""
    end = time.monotonic() + seconds
    latest: list[JsonValue] = []
    with remarks().status("waiting") as status:
        for count, item in enumerate(items):
            status.update(f"waiting: {count} of {len(items)} done")
            latest.append(await wait_for(client, item, end))
    return latest


async def wait_for(client: Client, item: JsonValue, end: float) -> JsonValue:
    """Return a task as it is once final, or when the time is up."""
    while not (task := Task.model_validate(item)).is_final and (left := end - time.monotonic()) > 0:
        seconds = min(math.ceil(left), LONGEST_WAIT_SECONDS)
        answer = await client.get(task_path(task.id), {"wait": seconds}, wait=seconds)
        item = JSON.validate_json(answer.content)
    return item


def _tell(tasks: list[Task], answer: Answer, *, waited: bool) -> None:
    if answer.replayed:
        remarks().print("This key was used before: nothing new was submitted.")
    if len(tasks) == 1 and waited:
        show(task_details(tasks[0], utc_now()))
    else:
        show(task_table(tasks, utc_now(), out().width), [task.id for task in tasks])


def _verdict(tasks: list[Task], wait_seconds: float) -> ExitCode:
    unfinished = [task.id for task in tasks if not task.is_final]
    if unfinished:
        raise RefusedError(f"Not finished after {wait_seconds:g} s: {', '.join(unfinished[:10])}")
    return ExitCode.DONE if all(task.is_completed for task in tasks) else ExitCode.REFUSED
