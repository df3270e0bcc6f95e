"""Intruders: hostile files over HTTP, and some that are let past the gate; what it costs those who meet them."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any, Final

from officeplane.domain.document import Format
from officeplane.domain.ids import DocumentId
from officeplane.domain.revision import NewRevision, RecipeWriter
from officeplane.store import documents
from officeplane.store.connection import Connection
from tests.onslaught.census import peak_bytes, watched
from tests.onslaught.files import every_hostile_file
from tests.onslaught.onslaught import API_BYTES_MAX, CHILD_BYTES_MAX, POOLED_MAX, WORKER_BYTES_MAX, endure
from tests.prove.figures import Figure, exactly, noted
from tests.prove.ground import Ground, ground

_MEGABYTE: Final = 1_000_000
_EVERY: Final = 4


async def intruders(folder: Path) -> list[Figure]:
    """Send every hostile file to the API, as a new document and over one that exists, while honest edits go on."""
    files = every_hostile_file()
    async with ground(folder) as place:
        toll = await endure(place.processes, folder, files)
    reasons = ", ".join(f"{count} {reason}" for reason, count in toll.refused.most_common())
    open_before, open_after = (
        ", ".join(f"{name} {held.descriptors}" for name, held in there.items()) for there in (toll.before, toll.after)
    )
    return [
        exactly("hostile files: what should not be", [wrong[:500] for wrong in toll.wrong[:20]], []),
        exactly("hostile files: refused, each for what it is", toll.refused.total(), 2 * len(files)),
        noted("hostile files: reasons", reasons),
        noted("hostile files: children that died looking", str(toll.died_looking)),
        noted("odd and honest files that were taken; edits meanwhile", f"{toll.accepted}; {toll.edits}"),
        _at_most("hostile files: most memory of the API", toll.api_peak, API_BYTES_MAX),
        _at_most("hostile files: most memory of the worker", toll.worker_peak, WORKER_BYTES_MAX),
        _at_most("hostile files: most memory of one child", toll.peaks.child, CHILD_BYTES_MAX),
        noted("hostile files: most memory of all processes", f"{toll.peaks.together / _MEGABYTE:.0f} MB"),
        noted(
            "hostile files: descriptors before and after", f"{open_before}; {open_after}", f"at most {POOLED_MAX} more"
        ),
    ]


async def past_the_gate(folder: Path) -> list[Figure]:
    """Put hostile files into the ledger as if the gate had slept, then edit and read each: the sandbox has to hold."""
    files = every_hostile_file()[::_EVERY]
    async with ground(folder) as place:
        api, worker = await place.processes.serve(), await place.processes.worker(concurrency=2)
        edits: list[dict[str, Any]] = []
        for number, (kind, file) in enumerate(files):
            await _let_in(place, f"intruder-{number}", kind, file.make())
            edits.append(_edit_of(f"intruder-{number}"))
        answers: Counter[int] = Counter()
        async with watched([api.process.pid, worker.pid]) as peaks:
            await place.submit(edits)
            await place.all_final(within=600)
            for edit in edits:
                answers[(await api.get(f"/api/documents/{edit['document_id']}/text")).status_code] += 1
        api_peak, worker_peak = peak_bytes(api.process.pid), peak_bytes(worker.pid)
        ends = await place.sql(
            "SELECT state, coalesce(error ->> 'kind', '') AS kind, count(*) AS n FROM tasks GROUP BY 1, 2"
        )
        await api.post("/api/documents", {"id": "honest", "format": "docx"})
        last = await api.final(await api.submit("add_chapter", documentId="honest", payload={"title": "Next"}))
        alive = api.process.is_running and worker.is_running
        await api.aclose()
    told = ", ".join(f"{end['n']} {end['state']} {end['kind']}".strip() for end in ends)
    return [
        exactly("past the gate: edits that ended", sum(end["n"] for end in ends), len(files)),
        noted("past the gate: how they ended", told),
        exactly("past the gate: answers to readers that are no answers", set(answers) - {200, 415, 500}, set[int]()),
        noted("past the gate: answers to readers", ", ".join(f"{n} x {status}" for status, n in answers.items())),
        exactly(
            "past the gate: both processes live, the next honest edit", (alive, last["state"]), (True, "COMPLETED")
        ),
        _at_most("past the gate: most memory of the API", api_peak, API_BYTES_MAX),
        _at_most("past the gate: most memory of the worker", worker_peak, WORKER_BYTES_MAX),
        _at_most("past the gate: most memory of one child", peaks.child, CHILD_BYTES_MAX),
    ]


async def _let_in(place: Ground, document_id: str, kind: Format, data: bytes) -> None:
    writer = RecipeWriter()
    writer.add(data)
    pieces = dict(writer.pieces)
    recipe = writer.finish()

    async def made(connection: Connection) -> None:
        head = await documents.create(connection, document_id, kind, None, None, "local")
        assert head is not None
        revision = NewRevision(
            DocumentId(document_id),
            kind,
            head,
            recipe,
            pieces,
            hashlib.sha256(data).hexdigest(),
            writer.size,
            None,
            None,
        )
        await documents.revise(connection, [(None, revision)])

    await place.bench.runtime.ledger.in_transaction(made)


def _edit_of(document_id: str) -> dict[str, Any]:
    payload = {"find": "Hello", "replace": "Bye"}
    return {"task_type": "replace_text", "document_id": document_id, "payload": payload, "max_retries": 0}


def _at_most(name: str, measured: int, limit: int) -> Figure:
    return Figure(name, f"{measured / _MEGABYTE:.0f} MB", f"{limit / _MEGABYTE:.0f} MB", held=measured <= limit)
