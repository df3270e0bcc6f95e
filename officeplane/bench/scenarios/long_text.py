"""A long text: 200 pages, read in parts while it is open already, and edited a paragraph at a time."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from officeplane.bench.client import Client, clients
from officeplane.bench.figures import Figure, percentile
from officeplane.bench.office import open_office, submit_and_wait
from officeplane.bench.office_files import PARAGRAPHS, mark_of, name, text_document
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers

PAGES: Final = 200
_WARM_UP: Final = 3


@dataclass(frozen=True, slots=True)
class LongText:
    """Milliseconds until answers, and how much longer a paragraph takes to edit than a section to add."""

    outline_p50_ms: float
    find_p50_ms: float
    edit_node_p50_ms: float
    add_section_p50_ms: float

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("outline, p50", self.outline_p50_ms, "ms"),
            Figure("find, p50", self.find_p50_ms, "ms"),
            Figure("edit_node, p50", self.edit_node_p50_ms, "ms"),
            Figure("edit_node over add_section", self.edit_node_p50_ms / self.add_section_p50_ms, "x"),
        ]


async def _measure(servers: Servers) -> LongText:
    times = servers.sized(40, at_least=10)
    async with open_office(servers) as office, clients(office.port, 1) as (client,):
        await office.put(name(0), await asyncio.to_thread(text_document, 0, PAGES))
        outlines = [await _read(client, "outline?depth=2") for _ in range(_WARM_UP + times)]
        found = [await _read(client, f"find?text={_mark(number)}") for number in range(_WARM_UP + times)]
        edited: list[float] = []
        added: list[float] = []
        for number in range(_WARM_UP + times):
            (paragraph,) = json.loads(await client.get(_path(f"find?text={_mark(number)}")))["items"]
            text = {"nodeId": paragraph["id"], "text": f"Rather e{number}."}
            edited.append(await _edit(client, "edit_node", text))
            added.append(await _edit(client, "add_section", {"title": f"Section {number}"}))
    return LongText(*(1_000 * percentile(seconds[_WARM_UP:], 0.5) for seconds in (outlines, found, edited, added)))


async def _read(client: Client, what: str) -> float:
    began = time.perf_counter()
    await client.get(_path(what))
    return time.perf_counter() - began


async def _edit(client: Client, task_type: str, payload: dict[str, Any]) -> float:
    began = time.perf_counter()
    await submit_and_wait(client, {"taskType": task_type, "documentId": name(0), "payload": payload})
    return time.perf_counter() - began


def _mark(number: int) -> str:
    return mark_of(number * 3 % PAGES, number % PARAGRAPHS).replace("[", "%5B").replace("]", "%5D")


def _path(what: str) -> str:
    return f"/api/documents/{name(0)}/{what}"


LONG_TEXT: Final = Scenario("long-text", "200 pages: outline, find and edit_node, open already", _measure)
