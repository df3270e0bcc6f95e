"""`officeplane documents edit`, `preview`, `pause`, `resume` and `delete`."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import typer
from pydantic import JsonValue

from officeplane.cli.answers import Document, Preview, Task
from officeplane.cli.client import Client, document_path
from officeplane.cli.console import remarks, show, write_json
from officeplane.cli.documents.differences import print_difference
from officeplane.cli.documents.short_nodes import ShownNodes
from officeplane.cli.exits import ExitCode, RefusedError, UsageError
from officeplane.cli.problems import made_by
from officeplane.cli.tasks.bodies import JSON, parse_payload, without_nothing
from officeplane.cli.tasks.submitting import wait_for
from officeplane.cli.texts import compact, printable
from officeplane.cli.types.fields import payload_of
from officeplane.cli.types.showing import type_named
from officeplane.cli.user import user_name


class Wanted(NamedTuple):
    """An edit as it was typed."""

    document_id: str
    task_type: str
    fields: tuple[str, ...]
    payload: str | None
    base: int | None
    on_conflict: str | None
    by: str | None


async def edit_document(url: str, wanted: Wanted, wait_seconds: float, *, as_json: bool) -> ExitCode:
    """Have an edit done and print what came of it; REFUSED when it was waited for and is not COMPLETED."""
    async with Client(url) as client:
        body = compact(await _body(client, wanted) | {"documentId": wanted.document_id}).encode()
        item = JSON.validate_json((await client.post("/api/tasks", body)).content)
        item = await wait_for(client, item, time.monotonic() + wait_seconds)
    if as_json:
        write_json(compact(item))
    task = Task.model_validate(item)
    if not as_json:
        _tell(task, wanted.document_id, waited=wait_seconds > 0)
    return ExitCode.DONE if task.is_completed or (wait_seconds == 0 and not task.is_final) else ExitCode.REFUSED


async def preview_edit(url: str, wanted: Wanted, *, as_json: bool) -> None:
    """Print what an edit would tell, and the difference that it would make."""
    async with Client(url) as client:
        body = compact(await _body(client, wanted)).encode()
        answer = await client.post(document_path(wanted.document_id, "/preview"), body)
    if as_json:
        write_json(answer.text)
        return
    found = Preview.model_validate_json(answer.content)
    for line in _result_lines(found.result):
        remarks().print(printable(line))
    if found.diff.is_empty:
        remarks().print("It would change nothing that can be read.")
    print_difference(found.diff)


async def hold_back(
    url: str, document_id: str, action: Literal["pause", "resume"], done: str, *, as_json: bool
) -> None:
    """Hold a document's tasks back or let them go on, and say so."""
    async with Client(url) as client:
        answer = await client.post(document_path(document_id, f"/{action}"))
    if as_json:
        write_json(answer.text)
    else:
        show(f"{document_id} {done}")


async def delete_document(url: str, document_id: str, *, is_sure: bool) -> None:
    """Delete a document, once whoever asked for it is sure."""
    async with Client(url) as client:
        document = Document.model_validate_json((await client.get(document_path(document_id))).content)
        unfinished = document.queued + document.running
        tasks = f", with {unfinished} unfinished tasks" if unfinished else ""
        what = f"{document_id}, a {document.format} at revision {document.revision}{tasks}"
        if not is_sure and not typer.confirm(f"Delete {what}?", err=True):
            raise RefusedError("Nothing was deleted.")
        await client.delete(document_path(document_id))
    show(f"deleted {what}")


async def _body(client: Client, wanted: Wanted) -> dict[str, JsonValue]:
    if wanted.payload is not None and wanted.fields:
        raise UsageError("Give either --payload or FIELD=VALUE.")
    if wanted.payload is None:
        task_type = await type_named(client, wanted.task_type) if wanted.fields else None
        typed = payload_of(task_type, wanted.fields)
        payload: JsonValue = ShownNodes(client.url, wanted.document_id).whole_in(typed)
    else:
        payload = parse_payload(wanted.payload)
    return without_nothing(
        {
            "taskType": wanted.task_type,
            "payload": payload,
            "baseRevision": wanted.base,
            "onConflict": wanted.on_conflict,
            "onBehalfOf": wanted.by or user_name(),
        }
    )


def _tell(task: Task, document_id: str, *, waited: bool) -> None:
    if task.is_completed:
        result = task.result if isinstance(task.result, Mapping) else {}
        show(printable(f"{document_id} is at revision {result.get('revision')}"))
        for line in _result_lines(result):
            show(printable(line))
    elif task.error is not None:
        since = [f"  {made_by(revision)}" for revision in task.error.revisions]
        changed = [f"  changed since: {', '.join(task.error.changed)}"] if task.error.changed else []
        raise RefusedError(printable(f"{task.error.message} ({task.error.kind})"), *changed, *since)
    elif waited:
        raise RefusedError(f"Not finished: {task.id} is {task.state}; `officeplane tasks watch {task.id}` follows it.")
    else:
        show(f"{task.id} is {task.state}")


def _result_lines(result: Mapping[str, JsonValue]) -> Iterator[str]:
    """Say what a result tells, a line each; its warnings last."""
    for name, value in result.items():
        if name not in ("revision", "warnings"):
            yield f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
    warnings = result.get("warnings")
    for warning in warnings if isinstance(warnings, list) else ():
        if isinstance(warning, Mapping):
            where = f" in {warning['nodeId']}" if warning.get("nodeId") else ""
            yield f"warning: {warning.get('code')}: {warning.get('detail')}{where}"
