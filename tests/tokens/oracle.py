"""The oracle: concurrent edits with tokens in them, under trouble, and what the files must say in the end.

Whatever was accepted is final. Revisions are a chain without a gap, one for each
edit that was completed and none for any other. Replaying the completed edits in
the order of revisions over a pure model gives what the real files say.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from random import Random
from typing import Any, Final

import httpx

from tests.fixtures.documents import excel, powerpoint, word
from tests.journeys.processes import LEASE_SECONDS, NOT_KEPT, Processes
from tests.tokens.clients import Client, Notes
from tests.tokens.judgement import Verdict, judged
from tests.tokens.orders import Orders, Subject
from tests.tokens.trouble import Trouble

CLIENTS: Final = 6
FILES: Final = {
    "text-1": ("docx", word.chapters),
    "text-2": ("docx", word.saved_by_word),
    "book-1": ("xlsx", lambda: excel.small("", names=("Log", "Grid"))),
    "book-2": ("xlsx", excel.hard),
    "deck-1": ("pptx", powerpoint.plain),
    "deck-2": ("pptx", powerpoint.illustrated),
}


async def consult(
    processes: Processes,
    *,
    edits: int,
    strikes: int,
    seed: int,
    stop_redis: Callable[[], Awaitable[None]],
    start_redis: Callable[[], Awaitable[None]],
) -> Verdict:
    """Have at least that many requests made while that many blows fall, and look at everything that is left."""
    async with AsyncExitStack() as leaving:
        servers = [await processes.serve() for _ in range(2)]
        for server in servers:
            leaving.push_async_callback(server.aclose)
        http = await leaving.enter_async_context(
            httpx.AsyncClient(base_url=servers[0].url, timeout=40, limits=NOT_KEPT)
        )
        trouble = Trouble(processes, LEASE_SECONDS, stop_redis, start_redis, Random(seed))
        await trouble.begin()
        subjects = [await _put(http, document_id) for document_id in FILES]
        orders, notes = Orders(subjects, seed), Notes()
        clients = [Client([server.url for server in servers], notes, seed + number) for number in range(CLIENTS)]
        for client in clients:
            leaving.push_async_callback(client.aclose)
        striking = asyncio.create_task(trouble.make(lambda: len(notes.ended), strikes))

        def is_enough() -> bool:
            return len(orders.made) >= edits and striking.done()

        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client.run(orders, is_enough))
            await striking
        await trouble.all_children_are_gone()
        return await judged(http, subjects, orders, notes, trouble.struck)


async def _put(http: httpx.AsyncClient, document_id: str) -> Subject:
    kind, make = FILES[document_id]
    answer = await http.put(f"/api/documents/{document_id}", content=make())
    assert answer.status_code == 201, answer.text
    nodes: list[dict[str, Any]] = (await http.get(f"/api/documents/{document_id}/outline")).json()["nodes"]
    match kind:
        case "docx":
            # The deepest heading at the end of each branch: what is added to it stands before the next heading.
            return Subject(document_id, kind, sections=[heading for node in nodes for heading in _leaves(node)])
        case "xlsx":
            for name in {"Log", "Grid"} - {node["text"] for node in nodes}:
                body = {"taskType": "add_sheet", "documentId": document_id, "payload": {"name": name}}
                task = (await http.post("/api/tasks", json=body)).json()
                ended = (await http.get(f"/api/tasks/{task['id']}?wait=20")).json()
                assert ended["state"] == "COMPLETED", ended
            return Subject(document_id, kind)
        case _:
            return Subject(document_id, kind, slides={node["id"]: node["text"] for node in nodes})


def _leaves(node: dict[str, Any]) -> list[str]:
    if node["kind"] not in {"chapter", "section"}:
        return []
    return [leaf for child in node.get("children", ()) for leaf in _leaves(child)] or [node["id"]]
