"""`officeplane tasks cancel`, `retry` and `update` done to one task, or to all that fit."""

import json
from collections.abc import Mapping

from pydantic import JsonValue

from officeplane.cli.answers import Changed, Task
from officeplane.cli.client import Answer, Client, task_path
from officeplane.cli.console import remarks, show, write_json
from officeplane.cli.texts import compact


async def cancel_task(url: str, task_id: str, reason: str | None, *, as_json: bool) -> None:
    """Ask for a task's end and print what became of it."""
    task = await _post(
        url, task_path(task_id, "/cancel"), {} if reason is None else {"reason": reason}, as_json=as_json
    )
    if task is not None:
        still = "" if task.is_final else "; it was asked to stop"
        show(f"{task.id} is {task.state}{still}")


async def retry_task(url: str, task_id: str, *, as_json: bool) -> None:
    """Open a finished task again and print its new state."""
    task = await _post(url, task_path(task_id, "/retry"), {}, as_json=as_json)
    if task is not None:
        show(f"{task.id} is {task.state}")


async def update_task(url: str, task_id: str, fields: dict[str, JsonValue], *, as_json: bool) -> None:
    """Change a task that waits and print its state."""
    async with Client(url) as client:
        answer = await client.patch(task_path(task_id), compact(fields).encode())
    task = _told(answer, as_json=as_json)
    if task is not None:
        show(f"{task.id} is {task.state}")


async def change_many(
    url: str, action: str, filters: Mapping[str, str | list[str]], done: str, *, as_json: bool
) -> None:
    """Do this to all tasks that fit, request by request, and print how many those were."""
    count, cursor = 0, None
    async with Client(url) as client:
        while True:
            body = filters if cursor is None else {**filters, "cursor": cursor}
            answer = await client.post(f"/api/tasks/{action}", json.dumps(body).encode())
            part = Changed.model_validate_json(answer.content)
            count, cursor = count + part.changed, part.next
            if cursor is None:
                break
            remarks().print(f"{count} {done}, going on …")
    if as_json:
        write_json(compact({"changed": count}))
    else:
        show(f"{count} {done}")


async def _post(url: str, path: str, body: dict[str, str], *, as_json: bool) -> Task | None:
    """Return the task to tell about, or None when its JSON has told everything."""
    async with Client(url) as client:
        answer = await client.post(path, compact(dict(body)).encode())
    return _told(answer, as_json=as_json)


def _told(answer: Answer, *, as_json: bool) -> Task | None:
    if as_json:
        write_json(answer.text)
        return None
    return Task.model_validate_json(answer.content)
