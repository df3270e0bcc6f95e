"""Large bodies: whatever somebody sends, the server goes on answering everybody else."""

import asyncio
import json
from collections.abc import Callable, Iterator
from itertools import count, takewhile
from typing import Final

import httpx
import pytest

from tests.journeys.conftest import Installation
from tests.journeys.processes import Server
from tests.journeys.pulse import pulse
from tests.support import eventually

pytestmark = pytest.mark.timeout(600)  # a busy machine; alone it takes a fraction of that

MIB: Final = 1024 * 1024
# A fifth of it here, and less than that mostly; before there were limits it was seconds to hours.
HELD_SECONDS_MAX: Final = 0.75
ANSWERED_WITHIN_SECONDS: Final = 120
HEAD: Final = {"Content-Type": "application/json"}


def filled(start: str, pieces: Iterator[str], end: str, mib: int) -> bytes:
    """A body that is nearly so large: pieces, with commas between them."""
    left = mib * MIB - len(start) - len(end) - 100
    made: list[str] = []
    for piece in pieces:
        left -= len(piece) + 1
        if left < 0:
            break
        made.append(piece)
    return (start + ",".join(made) + end).encode()


def spread(pieces: Iterator[str]) -> Iterator[str]:
    """The same with blanks behind each: so many of them fill a bulk that counting its commas does not refuse it."""
    return (f"{piece:<18}" for piece in pieces)


def numbered(text: str) -> Iterator[str]:
    return (text.replace("N", str(number)) for number in count())


def repeated(text: str) -> Iterator[str]:
    return (text for _ in count())


def edges(tasks: int, each: int) -> Iterator[str]:
    """The tasks of a DAG, each of which waits for so many before it."""
    for number in range(tasks):
        befores = json.dumps([f"t{before}" for before in range(max(0, number - each), number)])
        yield f'{{"key": "t{number}", "taskType": "noop", "dependsOn": {befores}}}'


ROWS: Final = (
    '{"children": [{"key": "a", "taskType": "noop"}, {"taskType": "insert_table", "documentId": "d", "payload": '
)
ROW_OF_REFERENCES: Final = "[" + ",".join(['{"$ref": "a.x"}'] * 400) + "]"
BATCH_OF_REFERENCES: Final = f'{ROWS}{{"rows": [{",".join([ROW_OF_REFERENCES] * 20)}]}}}}]}}'

# By what somebody sends: the start, the pieces, the end and, of a bulk, what is put around it.
ONE: Final[dict[str, tuple[str, Callable[[], Iterator[str]], str]]] = {
    "references": (ROWS + '{"rows": [', lambda: repeated(ROW_OF_REFERENCES), "]}}]}"),
    "names, the last one twice": ('{"taskType": "noop", "payload": {', lambda: numbered('"nN":1'), ',"z":1,"z":1}}'),
    "unknown fields": ('{"taskType": "noop", ', lambda: numbered('"nN":1'), "}"),
    "unknown fields of a payload": ('{"taskType": "noop", "payload": {', lambda: numbered('"nN":1'), "}}"),
    "unknown fields of an edit": (
        '{"taskType": "insert_table", "documentId": "d", "payload": {', lambda: numbered('"nN":1'), "}}"
    ),
    "cells that are none": (
        '{"taskType": "append_rows", "documentId": "d", "payload": {"sheet": "s", "rows": [',
        lambda: repeated("[" + ",".join(["[]"] * 1_000) + "]"),
        "]}}",
    ),
    "cells by name that are none": (
        '{"taskType": "set_cells", "documentId": "d", "payload": {"sheet": "s", "cells": {',
        lambda: (f'"A{number}": []' for number in count(1)),
        "}}}",
    ),
    "dependencies that are none": ('{"taskType": "noop", "dependsOn": [', lambda: repeated("1"), "]}"),
    "tags": ('{"taskType": "noop", "tags": [', lambda: numbered('"N"'), "]}"),
    "kinds of failure": ('{"taskType": "noop", "retry": {"retryOn": [', lambda: repeated("1"), "]}}"),
    "a priority of many names": ('{"taskType": "noop", "priority": {', lambda: numbered('"nN":1'), "}}"),
    "empty lists": ('{"taskType": "noop", "payload": {"a": [', lambda: repeated("[]"), "]}}"),
    "one long text": ('{"taskType": "noop", "title": "', lambda: repeated("\\u00e9" * 1_000), '"}'),
    "dots": ('{"taskType": "noop", "dependsOn": [], "payload": {"$ref": "', lambda: repeated("." * 1_000), '"}}'),
}  # fmt: skip
MANY: Final[dict[str, tuple[str, Callable[[], Iterator[str]], str]]] = {
    **{f"{name}, in a bulk": (f"[{start}", pieces, f"{end}]") for name, (start, pieces, end) in ONE.items()},
    "more values than are counted": ("[", lambda: (f"{[0] * 20}" for _ in count()), "]"),
    "batches of references": ("[", lambda: repeated(BATCH_OF_REFERENCES), "]"),
    "tasks with unknown fields": ("[", lambda: repeated('{"a":1,"b":1,"c":1,"d":1,"e":1}'), "]"),
    "a thousand tasks with many unknown fields each": (
        "[",
        lambda: takewhile(
            bool, ("{" + ",".join(f'"n{n}":1' for n in range(99)) + "}" if i < 1000 else "" for i in count())
        ),
        "]",
    ),
    "empty bodies": ("[", lambda: repeated("{}"), "]"),
}
DAGS: Final[dict[str, tuple[str, Callable[[], Iterator[str]], str]]] = {
    "edges": ('{"tasks": [', lambda: edges(10_000, 360), "]}"),
    "edges of one": (
        '{"tasks": [{"key": "a", "taskType": "noop", "dependsOn": [', lambda: numbered('"tN"'), "]}]}"
    ),
    "tasks with unknown fields": ('{"tasks": [', lambda: repeated('{"a":1,"b":1,"c":1}'), "]}"),
    "unknown fields beside the tasks": ('{"tasks": [], ', lambda: numbered('"nN":1'), "}"),
}  # fmt: skip


async def sent(server: Server, path: str, body: bytes, method: str = "POST") -> httpx.Response:
    """The answer to a body; who asks how the server is has a thread of its own, and so has who sends."""

    def send() -> httpx.Response:
        with httpx.Client(base_url=server.url, timeout=ANSWERED_WITHIN_SECONDS) as client:
            return client.request(method, path, content=body, headers=HEAD)

    return await asyncio.to_thread(send)


async def held_by(server: Server, path: str, body: bytes, method: str = "POST") -> tuple[float, httpx.Response]:
    """For how long a body kept the server from answering others, and what it led to."""
    held, answer = await once_held_by(server, path, body, method)
    # A machine that stands still may count that as the server's work, but not again and again.
    for _ in range(2):
        if held > HELD_SECONDS_MAX:
            held, answer = await once_held_by(server, path, body, method)
    return held, answer


async def once_held_by(server: Server, path: str, body: bytes, method: str) -> tuple[float, httpx.Response]:
    with pulse(server) as beats:
        await eventually(lambda: len(beats) >= 3, what="a pulse")
        answer = await sent(server, path, body, method)
        seen = len(beats)
        await eventually(lambda: len(beats) > seen + 1, what="a pulse after it")
    return max(beat.held_seconds for beat in beats), answer


def assert_refused_in_passing(held: float, answer: httpx.Response) -> None:
    assert answer.status_code in {400, 413, 422}, answer.text[:500]
    assert len(answer.content) < 100_000
    assert held < HELD_SECONDS_MAX


@pytest.mark.parametrize("name", ONE)
async def test_no_body_of_one_task_keeps_the_server_from_answering(deserted: Installation, name: str) -> None:
    start, pieces, end = ONE[name]

    held, answer = await held_by(deserted.api, "/api/tasks", filled(start, pieces(), end, 1))

    assert_refused_in_passing(held, answer)


@pytest.mark.parametrize("name", MANY)
async def test_no_bulk_keeps_the_server_from_answering(deserted: Installation, name: str) -> None:
    start, pieces, end = MANY[name]

    held, answer = await held_by(deserted.api, "/api/tasks/bulk", filled(start, spread(pieces()), end, 16))

    assert_refused_in_passing(held, answer)


@pytest.mark.parametrize("mib", [1, 16])
@pytest.mark.parametrize("name", DAGS)
async def test_no_dag_keeps_the_server_from_answering(deserted: Installation, name: str, mib: int) -> None:
    start, pieces, end = DAGS[name]

    held, answer = await held_by(deserted.api, "/api/dags", filled(start, spread(pieces()), end, mib))

    assert_refused_in_passing(held, answer)


@pytest.mark.parametrize("name", DAGS)
async def test_no_addition_to_a_dag_keeps_the_server_from_answering(deserted: Installation, name: str) -> None:
    dag = await deserted.api.post("/api/dags", {"tasks": [{"key": "first", "taskType": "noop"}]})
    start, pieces, end = DAGS[name]

    held, answer = await held_by(
        deserted.api, f"/api/dags/{dag.json()['id']}/tasks", filled(start, spread(pieces()), end, 16)
    )

    assert_refused_in_passing(held, answer)


@pytest.mark.parametrize("name", ["references", "cells that are none", "unknown fields", "unknown fields of an edit"])
async def test_no_preview_keeps_the_server_from_answering(deserted: Installation, name: str) -> None:
    await deserted.api.post("/api/documents", {"id": "d", "format": "docx"})
    start, pieces, end = ONE[name]

    held, answer = await held_by(deserted.api, "/api/documents/d/preview", filled(start, pieces(), end, 1))

    assert_refused_in_passing(held, answer)


@pytest.mark.parametrize(
    ("method", "path", "start", "piece", "end"),
    [
        ("PATCH", "/api/tasks/{id}", "{", '"nN":1', "}"),
        ("PATCH", "/api/tasks/{id}", '{"tags": [', '"N"', "]}"),
        ("PATCH", "/api/tasks/{id}", '{"priority": {', '"nN":1', "}}"),
        ("POST", "/api/tasks/{id}/cancel", "{", '"nN":1', "}"),
        ("POST", "/api/tasks/{id}/retry", "{", '"nN":1', "}"),
        ("PUT", "/api/limits/noop", "{", '"nN":1', "}"),
        ("POST", "/api/dead-letters/resolve", "{", '"nN":1', "}"),
        ("POST", "/api/documents", "{", '"nN":1', "}"),
        ("POST", "/api/documents/d/revert", "[", "[]", "]"),
    ],
)
async def test_no_other_body_keeps_the_server_from_answering(
    deserted: Installation, method: str, path: str, start: str, piece: str, end: str
) -> None:
    task = await deserted.api.submit("noop")

    held, answer = await held_by(
        deserted.api, path.format(id=task["id"]), filled(start, numbered(piece), end, 1), method
    )

    assert_refused_in_passing(held, answer)


ACCEPTED: Final[dict[str, tuple[str, bytes]]] = {
    "as many tasks as a bulk may hold": (
        "/api/tasks/bulk",
        ("[" + ",".join(['{"children":[' + ",".join(['{"taskType":"noop"}'] * 9) + "]}"] * 1_000) + "]").encode(),
    ),
    "as many edges as a DAG may have": ("/api/dags", ('{"tasks": [' + ",".join(edges(1_050, 100)) + "]}").encode()),
    "as many cells as fit": (
        "/api/tasks",
        filled(
            '{"taskType": "append_rows", "documentId": "book", "payload": {"sheet": "s", "rows": [',
            repeated("[" + ",".join(["1"] * 400) + "]"),
            "]}}",
            1,
        ),
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
async def test_no_body_that_is_taken_keeps_the_server_from_answering(deserted: Installation, name: str) -> None:
    await deserted.api.post("/api/documents", {"id": "book", "format": "xlsx"})
    path, body = ACCEPTED[name]

    held, answer = await held_by(deserted.api, path, body)

    assert answer.status_code == 201, answer.text[:500]
    assert held < HELD_SECONDS_MAX


async def test_an_honest_bulk_is_taken_soon_while_others_send_the_worst_there_is(deserted: Installation) -> None:
    start, pieces, end = MANY["names, the last one twice, in a bulk"]
    worst = filled(start, pieces(), end, 16)
    honest = json.dumps([{"taskType": "noop", "title": "a" * 100}] * 1_000).encode()

    async with asyncio.TaskGroup() as group:
        group.create_task(sent(deserted.api, "/api/tasks/bulk", worst))
        taken = group.create_task(sent(deserted.api, "/api/tasks/bulk", honest))

    assert taken.result().status_code == 201
