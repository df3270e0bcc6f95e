"""What is shown of documents: not more than is good for all, and not to those who have gone."""

import asyncio
import os
import signal
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI

from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from tests.api.client import Api, problem_of, state_in
from tests.fixtures.documents.excel import repeating
from tests.sandbox.processes import asleep, gone
from tests.support import eventually


@pytest.fixture
async def a_flood(api: Api) -> str:
    """A document of a few thousand bytes that says sixty million."""
    document_id = f"doc-{str(uuid4())[:8]}"
    file = repeating(600_000, cells=100)
    assert len(file) < 5_000
    assert (await api.client.put(f"/api/documents/{document_id}", content=file)).status_code == 201
    return document_id


@pytest.mark.parametrize("what", ["text", "diff?from=1&to=1"])
async def test_a_small_file_that_says_far_more_than_it_holds_is_not_shown(api: Api, a_flood: str, what: str) -> None:
    answer = await api.client.get(f"/api/documents/{a_flood}/{what}")

    assert answer.status_code == 413
    assert problem_of(answer)["code"] == "too_large_to_show"
    assert "/content" in problem_of(answer)["detail"]
    assert (await api.get(f"/api/documents/{a_flood}/outline")).status_code == 200
    assert (await api.get(f"/api/documents/{a_flood}/content")).status_code == 200


async def test_a_reader_who_hangs_up_is_not_worked_for(api: Api, app: FastAPI, url: str) -> None:
    document_id = f"doc-{str(uuid4())[:8]}"
    await api.client.put(f"/api/documents/{document_id}", content=blank(Format.DOCX, None))
    path = f"/api/documents/{document_id}/text"
    assert (await api.get(path)).status_code == 200
    runtime = state_in(app).runtime
    assert runtime is not None
    sandbox = runtime.sandbox
    (child,) = (it.pid for it in sandbox._idle if it.document == document_id)  # pyright: ignore[reportPrivateUsage]
    os.kill(child, signal.SIGSTOP)
    await asleep(child)

    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        reading = asyncio.ensure_future(client.get(path))
        await eventually(
            lambda: all(it.pid != child for it in sandbox._idle),  # pyright: ignore[reportPrivateUsage]
            what="the request in the child's hands",
        )
        reading.cancel()
        await asyncio.wait({reading})

    await gone(child)
    assert (await api.get(path)).status_code == 200
