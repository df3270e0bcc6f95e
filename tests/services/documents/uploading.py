"""Uploads of files for tests: what is sent, and the task that waits for its turn."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from officeplane.domain.document import Format
from officeplane.domain.ids import TaskId
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from officeplane.formats.blank import blank
from officeplane.services.documents import uploads as service
from officeplane.services.documents.uploads import Put
from officeplane.services.files.spool import spooled_bytes
from tests.support import eventually
from tests.workbench import Workbench

FILE = blank(Format.DOCX, "A file")
OTHER = blank(Format.DOCX, "Another file")


async def put(bench: Workbench, data: bytes = FILE, document_id: str = "plan", if_match: service.IfMatch = None) -> Put:
    """Upload a file."""
    async with spooled_bytes(data) as spool:
        return await bench.runtime.documents.put(LOCAL, document_id, spool, if_match, "ann")


@asynccontextmanager
async def uploading(
    bench: Workbench, data: bytes = OTHER, if_match: service.IfMatch = service.ANY
) -> AsyncGenerator[tuple["asyncio.Task[Put]", Task], None]:
    """Upload a file to a document that is there, and give the task that waits for its turn."""
    request = asyncio.create_task(put(bench, data, if_match=if_match))
    try:
        yield request, await eventually(lambda: upload_of(bench), what="the upload's task")
    finally:
        request.cancel()
        await asyncio.wait({request})


async def upload_of(bench: Workbench) -> Task | None:
    """Return the task of the newest upload, if there is one."""
    rows = await bench.execute("SELECT id FROM tasks WHERE task_type = 'upload' ORDER BY seq DESC LIMIT 1")
    return (await bench.details(TaskId(str(rows[0]["id"])))).task if rows else None
