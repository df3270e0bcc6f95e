"""`officeplane documents put`, `get` and `revert`: what moves files."""

import asyncio
import sys
from pathlib import Path

from officeplane.cli.answers import Document, Task
from officeplane.cli.client import Client, document_path, task_path
from officeplane.cli.console import remarks, show, write_json
from officeplane.cli.exits import ExitCode, UsageError
from officeplane.cli.texts import compact
from officeplane.domain.document import file_name


async def put_file(url: str, file: Path, document_id: str, if_match: int | None, *, as_json: bool) -> None:
    """Upload a file and say which revision it became."""
    try:
        data = await asyncio.to_thread(file.read_bytes)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    headers = {} if if_match is None else {"If-Match": f'"{if_match}"'}
    async with Client(url) as client:
        answer = await client.put(document_path(document_id), data, headers)
    if as_json:
        write_json(answer.text)
    elif answer.status == 202:
        task = Task.model_validate_json(answer.content)
        show(f"{document_id} is busy; task {task.id} will put the file in place")
    else:
        document = Document.model_validate_json(answer.content)
        show(f"{document.id} is at revision {document.revision}")


async def get_file(url: str, document_id: str, output: Path | None, revision: int | None) -> None:
    """Download a file and say where it is."""
    query = {} if revision is None else {"revision": revision}
    async with Client(url) as client:
        document = Document.model_validate_json((await client.get(document_path(document_id))).content)
        answer = await client.get(document_path(document_id, "/content"), query)
    if output == Path("-"):
        sys.stdout.buffer.write(answer.content)
        return
    target = output or Path(file_name(document_id, document.format).replace(":", "_"))
    try:
        await asyncio.to_thread(target.write_bytes, answer.content)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from None
    remarks().print(f"{target}: {len(answer.content):,} bytes, revision {revision or document.revision}")


async def revert_document(url: str, document_id: str, revision: int, wait: float, *, as_json: bool) -> int:
    """Return to an earlier revision and say how that ended."""
    body = compact({"toRevision": revision}).encode()
    async with Client(url) as client:
        task = Task.model_validate_json((await client.post(document_path(document_id, "/revert"), body)).content)
        answer = await client.get(task_path(task.id), {"wait": str(wait)}, wait)
    if as_json:
        write_json(answer.text)
    task = Task.model_validate_json(answer.content)
    if not as_json:
        why = "" if task.error is None else f": {task.error.message}"
        show(f"{task.id} is {task.state}{why}")
    return ExitCode.DONE if task.is_completed else ExitCode.REFUSED
