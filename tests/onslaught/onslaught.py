"""The onslaught: hostile files over HTTP to a real installation, whose processes are watched meanwhile.

Each file is sent twice: as a new document, and as the next revision of one that
exists. Each is refused for what it is and leaves nothing behind; between them
honest files and edits go through the worker as if nothing were the matter.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from officeplane.domain.document import Format
from tests.fixtures.documents import excel, powerpoint, word
from tests.fixtures.documents.hostile import Hostile, harmless
from tests.journeys.processes import NOT_KEPT, Process, Processes
from tests.onslaught.census import Holdings, Peaks, peak_bytes, watched
from tests.onslaught.strangers import broken_off, strangers
from tests.support import eventually

AT_ONCE: Final = 4
API_BYTES_MAX: Final = 250_000_000
WORKER_BYTES_MAX: Final = 200_000_000
CHILD_BYTES_MAX: Final = 700_000_000
"""What the sandbox allows one child, and the pages that it shares with its nursery."""
POOLED_MAX: Final = 10
"""Connections that pools may still open after everything has been used once."""
BETWEEN_EDITS: Final = 20
_DOCUMENTS: Final = {Format.DOCX: "text", Format.XLSX: "book", Format.PPTX: "deck"}
_HONEST: Final = {Format.DOCX: word.chapters, Format.XLSX: lambda: excel.small(""), Format.PPTX: powerpoint.plain}


@dataclass(slots=True)
class Toll:
    """What was seen."""

    wrong: list[str] = field(default_factory=list[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    accepted: int = 0
    edits: int = 0
    died_looking: int = 0
    api_peak: int = 0
    worker_peak: int = 0
    peaks: Peaks = field(default_factory=Peaks)
    before: dict[str, Holdings] = field(default_factory=dict[str, Holdings])
    after: dict[str, Holdings] = field(default_factory=dict[str, Holdings])


async def endure(
    processes: Processes, folder: Path, files: Sequence[tuple[Format, Hostile]], *, harmless_each: int | None = None
) -> Toll:
    """Send all of them and tell what came of it; `harmless_each` is how many odd, honest files go with each format."""
    temporary = folder / "temporary"
    temporary.mkdir()
    with _temporary_files_in(temporary):
        api, worker = await processes.serve(), await processes.worker(concurrency=2)
    toll = Toll()
    async with (
        httpx.AsyncClient(base_url=api.url, timeout=60, limits=NOT_KEPT) as http,
        watched([api.process.pid, worker.pid]) as toll.peaks,
    ):
        site = _Site(http, toll)
        await site.settle_in()
        toll.before = _held(api.process, worker)
        await site.assault(files, harmless_each)
        await site.is_unharmed()
        await _same_again(api.process, worker, toll)
    toll.api_peak, toll.worker_peak = peak_bytes(api.process.pid), peak_bytes(worker.pid)
    toll.wrong += [
        f"{who} had {peak} bytes"
        for who, peak, limit in (
            ("the API", toll.api_peak, API_BYTES_MAX),
            ("the worker", toll.worker_peak, WORKER_BYTES_MAX),
            ("a child", toll.peaks.child, CHILD_BYTES_MAX),
        )
        if peak > limit
    ]
    toll.wrong += [f"{file.name} was left behind" for file in temporary.iterdir()]
    for process in (api.process, worker):
        toll.wrong += [f"{process.name} said {line}" for line in process.stacks]
        toll.wrong += [f"{process.name} died"] if not process.is_running else []
        if (status := await process.stop()) != 0:
            toll.wrong.append(f"{process.name} ended with {status}")
    await api.aclose()
    return toll


class _Site:
    """The installation, and one document of each format in it."""

    def __init__(self, http: httpx.AsyncClient, toll: Toll) -> None:
        self._http = http
        self._toll = toll
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._lanes = {kind: asyncio.Lock() for kind in Format}

    async def settle_in(self) -> None:
        """Make the documents and use everything once, as much of it at once as later."""
        for kind, document_id in _DOCUMENTS.items():
            assert (await self._put(document_id, _HONEST[kind]())).status_code == 201
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                for kind in Format:
                    group.create_task(self._edit(kind))
        await asyncio.gather(*(self._put("warm", b"PK\3\4") for _ in range(4 * AT_ONCE)))

    async def assault(self, files: Sequence[tuple[Format, Hostile]], harmless_each: int | None) -> None:
        """Send everything, a few at a time, and honest work between."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._turn_strangers_away())
            for number, (kind, file) in enumerate(files):
                group.create_task(self._send(f"new-{number}", kind, file))
                if number % BETWEEN_EDITS == 0:
                    group.create_task(self._edit(list(Format)[number // BETWEEN_EDITS % 3]))
            for kind in Format:
                for name, data in list(harmless(kind))[:harmless_each]:
                    group.create_task(self._accept(kind, name, data))

    async def is_unharmed(self) -> None:
        """See that nothing of what was refused is there, and that work goes on."""
        there = {document["id"] for document in (await self._http.get("/api/documents?limit=500")).json()}
        self._toll.wrong += [f"there is a document {name}" for name in sorted(there - set(_DOCUMENTS.values()))]
        for kind in Format:
            await self._edit(kind)

    async def _turn_strangers_away(self) -> None:
        await broken_off(self._http, "broken-off")
        self._toll.wrong += await strangers(self._http, _DOCUMENTS)

    async def _send(self, new: str, format: Format, file: Hostile) -> None:
        data = await asyncio.to_thread(file.make)
        for target in (new, _DOCUMENTS[format]):
            async with self._turns:
                answer = await self._put(target, data)
            told: dict[str, Any] = answer.json()
            refusal = (answer.status_code, told.get("code"))
            self._toll.refused[str(told.get("reason"))] += 1
            self._toll.died_looking += "could not be looked at" in str(told.get("detail"))
            if refusal != (415, "unsupported_document") or told["reason"] not in file.reasons:
                self._toll.wrong.append(f"{format} {file.family}: {file.name} to {target}: {answer.text[:300]}")

    async def _accept(self, format: Format, name: str, data: bytes) -> None:
        """Upload an odd file over its document and edit it; the honest one is put back."""
        document_id = _DOCUMENTS[format]
        async with self._lanes[format]:
            answer = await self._put(document_id, data, over="*")
            if answer.status_code != 200:
                self._toll.wrong.append(f"{format} {name}: {answer.text[:300]}")
            self._toll.accepted += 1
            await self._edited(format, name, "set_properties", {"title": name[:50]})
            assert (await self._put(document_id, _HONEST[format](), over="*")).status_code == 200

    async def _edit(self, format: Format) -> None:
        async with self._lanes[format]:
            match format:
                case Format.DOCX:
                    await self._edited(format, "an honest file", "add_chapter", {"title": "Next"})
                case Format.XLSX:
                    await self._edited(format, "an honest file", "add_sheet", {"name": f"Next {self._toll.edits}"})
                case Format.PPTX:
                    await self._edited(format, "an honest file", "add_slide", {"title": "Next"})

    async def _edited(self, format: Format, name: str, task_type: str, payload: dict[str, object]) -> None:
        self._toll.edits += 1
        async with self._turns:
            body = {"taskType": task_type, "documentId": _DOCUMENTS[format], "payload": payload}
            task = (await self._http.post("/api/tasks", json=body)).json()
            ended = (await self._http.get(f"/api/tasks/{task['id']}?wait=40")).json()
        if ended["state"] != "COMPLETED":
            self._toll.wrong.append(f"{task_type} of {format} {name}: {ended['state']} {ended['error']}")

    async def _put(self, document_id: str, data: bytes, over: str | None = None) -> httpx.Response:
        headers = {} if over is None else {"If-Match": over}
        return await self._http.put(f"/api/documents/{document_id}", content=data, headers=headers)


async def _same_again(api: Process, worker: Process, toll: Toll) -> None:
    """Note what is open once requests are over; connections and children are kept, but hardly more than before."""

    def is_the_same() -> bool:
        toll.after = _held(api, worker)
        return all(
            toll.after[name].descriptors <= held.descriptors + POOLED_MAX and not toll.after[name].unlinked_files
            for name, held in toll.before.items()
        )

    try:
        await eventually(is_the_same)
    except AssertionError:
        toll.wrong.append(f"open before: {toll.before}; after: {toll.after}")


def _held(api: Process, worker: Process) -> dict[str, Holdings]:
    return {"api": Holdings.of(api.pid), "worker": Holdings.of(worker.pid)}


@contextmanager
def _temporary_files_in(folder: Path) -> Generator[None, None, None]:
    """Have processes that are started meanwhile keep their temporary files there."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before
