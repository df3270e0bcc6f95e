"""What nobody sends by mistake: ids, cursors and headers that are made to be misunderstood, byte by byte.

Every route of the OpenAPI document that has an id in its path is tried. Nothing
is a defect of ours (500), and nothing is shown or done.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import quote, urlsplit
from uuid import uuid4

import asyncpg
import pytest
from fastapi import FastAPI

from officeplane.api.cursors import cursor_after
from officeplane.config import Settings
from officeplane.domain.principal import Scope
from officeplane.server import create_app
from tests.api.client import UNKNOWN_ID, Api, a_key, running, served, state_in

MARK: Final = "somebody-elses"
OPERATIONS: Final = create_app(Settings()).openapi()["paths"]
METHODS: Final = ("get", "post", "put", "patch", "delete")
BEHIND: Final = (
    "%00",
    "%0a",
    "%20",
    ".",
    "%2e",
    "/",
    "%2f",
    "/..",
    "%2f..",
    "%5c",
    ";x=1",
    "%3fx",
    "%23x",
    "%",
    "%zz",
    "%c0%af",
    "%ff",
)
WHOLE: Final = (
    *("", ".", "..", "%2e%2e", "..%2f..%2f", "%252e%252e%252f", "%00", "%0d%0aX-Mine:%201", "'", "%22", "*", "%25"),
    *("$1", "{}", "NULL", "0", "-1", "9" * 400, "A" * 8_000, "a" * 129, "00000000-0000-0000-0000-000000000000%00"),
    # Letters and digits that look like others, and one that turns the text around.
    *(
        quote(text)
        for text in ("\uff50lan", "pl\u0430n", "pla\u0301n", "\u202eplan", "\u0661", f"\uff10{UNKNOWN_ID[1:]}")
    ),
)


MAKE_WHAT_THEY_NAME: Final = {"putAgent", "declareTaskType"}
"""Whoever makes these names them: of these spellings there is one that could be a name."""


def routes_with_ids() -> Iterator[tuple[str, str]]:
    for path, operations in OPERATIONS.items():
        if "{" in path:
            for method in METHODS:
                if method in operations and operations[method]["operationId"] not in MAKE_WHAT_THEY_NAME:
                    yield method, path


def routes_with_cursors() -> Iterator[str]:
    for path, operations in OPERATIONS.items():
        names = {one["name"] for one in operations.get("get", {}).get("parameters", ())}
        if "cursor" in names:
            yield path


class Raw:
    """Speaks to a server in bytes, since clients mend what they are given."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname, parts.port

    async def ask(self, method: str, target: str, *heads: bytes, body: bytes = b"") -> tuple[int, bytes]:
        """Return the status and the body of the first answer to a request."""
        lines = [f"{method.upper()} {target} HTTP/1.1".encode(), b"Host: localhost", b"Connection: close", *heads]
        if body:
            lines += [b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
        return await self.say(b"\r\n".join([*lines, b"", body]))

    async def say(self, request: bytes) -> tuple[int, bytes]:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        try:
            writer.write(request)
            async with asyncio.timeout(20):
                answer = await reader.read()
        finally:
            writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body


@asynccontextmanager
async def reached(settings: Settings) -> AsyncGenerator[tuple[FastAPI, Raw]]:
    async with running(settings) as app, served(app) as url:
        # Streams and long waits end at once, as they do while a server stops.
        state_in(app).stopping.set()
        yield app, Raw(url)


async def everything(settings: Settings) -> list[Any]:
    connection = await asyncpg.connect(settings.database_url)
    # When keys were used last is noted once a minute: those that other tests have called with, amid this one.
    row = "to_jsonb(t) - 'last_used_at'"
    try:
        return [
            await connection.fetch(f"SELECT {row} AS row FROM {table} t ORDER BY 1")  # noqa: S608 - names of ours
            for table in ("tasks", "dags", "documents", "api_keys", "paused_documents", "valves", "dead_letters")
        ]
    finally:
        await connection.close()


async def somebody_elses(api: Api) -> dict[str, list[str]]:
    """Make one of everything that has an id; return the ids by the names that paths give them."""
    document_id = f"plan-{uuid4()}"
    made = await api.post("/api/documents", {"id": document_id, "format": "docx"})
    task = await api.submit(title=f"{MARK} task", maxRetries=0)
    gone = await api.submit(title=f"{MARK} letter", maxRetries=0)
    await api.fail(gone["id"], f"{MARK} failure")
    dag = await api.post("/api/dags", {"title": f"{MARK} dag", "tasks": [{"key": "a", "taskType": "noop"}]})
    key = await api.post("/api/keys", {"name": f"{MARK}-{uuid4()}", "scopes": ["read"]})
    assert {made.status_code, dag.status_code, key.status_code} == {201}
    said = {"capabilities": [MARK], "taskTypes": ["code"], "maxConcurrentTasks": 1}
    agent = f"agent-{uuid4()}"
    await api.client.put(f"/api/agents/{agent}", json=said)
    await api.submit(taskType="code", payload={"goal": MARK}, requiredCapabilities=[MARK])
    claimed = await api.post(f"/api/agents/{agent}/claim", {})
    return {
        "agent_id": [agent],
        "claim_id": [claimed.json()["claims"][0]["claimId"]],
        "document_id": [document_id],
        "task_id": [task["id"], gone["id"]],
        "dag_id": [dag.json()["id"]],
        "key_id": [key.json()["id"]],
        "task_type": ["noop"],
        "name": ["default"],
    }


async def test_no_spelling_of_an_id_leads_to_a_defect_or_to_anything_else(api: Api) -> None:
    ids = await somebody_elses(api)
    before = await everything(api.settings)
    wrong: list[str] = []

    async with reached(api.settings) as (_, raw):
        for method, path in routes_with_ids():
            start, _, rest = path.partition("{")
            name, _, end = rest.partition("}")
            end = end.replace("{document_id}", ids["document_id"][0])
            for spelling in (*WHOLE, *(one + behind for one in ids[name] for behind in BEHIND)):
                status, body = await raw.ask(method, f"{start}{spelling}{end}", body=body_of(method, path))
                if not is_refusal(status, body) and not is_a_list(method, start, spelling, end):
                    wrong.append(f"{status} {method} {start}{spelling[:60]}{end}: {body[:200]!r}")

    assert wrong == []
    assert await everything(api.settings) == before


@pytest.mark.parametrize("path", list(routes_with_cursors()))
async def test_no_cursor_leads_to_a_defect(api: Api, path: str) -> None:
    ids = await somebody_elses(api) if "{" in path else {}
    path = path.replace("{document_id}", "".join(ids.get("document_id", [])))
    good = cursor_after(5)
    cursors = ("%00", "%ff", "a" * 20_000, "%F0%9F%98%80", good[:-1], good + good, good.swapcase(), "-1", "%0a" + good)

    async with reached(api.settings) as (_, raw):
        statuses = {cursor: (await raw.ask("GET", f"{path}?cursor={cursor}"))[0] for cursor in cursors}

    assert set(statuses.values()) <= {400, 422}, statuses


async def test_no_event_id_leads_to_a_defect(api: Api) -> None:
    ids = (
        b"",
        b"-",
        b"--",
        b"0-0-0",
        b"-1-0-0",
        b"9" * 5_000,
        b"9-" * 900,
        b"1-1-1\x00",
        b"\xff\xfe",
        "١-١-١".encode(),
        b"1e9-0-0",
    )

    async with reached(api.settings) as (_, raw):
        for event_id in ids:
            status, body = await raw.ask("GET", "/api/events", b"Last-Event-ID: " + event_id)

            assert status in {200, 400, 422}, (event_id, body)
            assert MARK.encode() not in body


async def test_a_key_is_read_in_one_way_only(api_settings: Settings) -> None:
    async with reached(api_settings.model_copy(update={"auth": "required"})) as (app, raw):
        key = (await a_key(app, Scope.READ)).encode()
        wrong = key[:-1] + (b"0" if key[-1:] != b"0" else b"1")

        for heads in (
            [b"Authorization: Bearer " + key],
            [b"AUTHORIZATION: bearer   " + key + b"  "],
            [b"authorization:\tBEARER " + key],
        ):
            assert (await raw.ask("GET", "/api/stats", *heads))[0] == 200, heads
        for heads in (
            [b"Authorization: Bearer " + wrong, b"Authorization: Bearer " + key],
            [b"Authorization: Bearer " + key, b"Authorization: Bearer " + wrong],
            [b"Authorization: Bearer " + key, b"authorization: "],
            [b"Authorization: Bearer " + key + b", Bearer " + key],
            [b"Authorization : Bearer " + key],
            [b" Authorization: Bearer " + key],
            [b"X: y", b" Authorization: Bearer " + key],
            [b"Authorization: Bearer " + key + b"\x00"],
            [b"Authorization: Bearer\xa0" + key],
            [b"Authorization: " + key],
            [b"Authorization: Basic " + key],
            [b"Proxy-Authorization: Bearer " + key],
            [b"Cookie: Authorization=Bearer " + key],
        ):
            status, body = await raw.ask("GET", "/api/stats", *heads)
            assert status in {400, 401}, (heads, status)
            assert key not in body
            state_in(app).wrong_keys.__init__()  # type: ignore[misc]  # so that the next one is looked at
        assert (await raw.ask("GET", f"/api/stats?key={key.decode()}"))[0] == 401
        assert (await raw.ask("GET", f"/api/stats?access_token={key.decode()}"))[0] == 401


async def test_who_comes_through_a_proxy_is_not_local_however_that_is_spelled(api: Api) -> None:
    async with reached(api.settings) as (_, raw):
        assert (await raw.ask("GET", "/api/stats"))[0] == 200
        for head in (
            b"X-Forwarded-For:",
            b"x-FORWARDED-for: ",
            b"Forwarded:\t",
            b"X-Forwarded-Host:",
            b"X-Forwarded-For:,",
        ):
            assert (await raw.ask("GET", "/api/stats", head))[0] == 401, head
        for head in (b"X-Forwarded-For : 1.2.3.4", b" X-Forwarded-For: 1.2.3.4", b"X\x00-Forwarded-For: 1.2.3.4"):
            assert (await raw.ask("GET", "/api/stats", head))[0] in {400, 401}, head


async def test_a_body_whose_length_is_said_twice_is_not_taken(api: Api) -> None:
    body = b'{"taskType": "noop", "title": "smuggled"}'
    start = b"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    rows = await api.rows()

    async with reached(api.settings) as (_, raw):
        for heads in (
            b"Content-Length: 0\r\nContent-Length: %d\r\n" % len(body),
            b"Content-Length: %d\r\nContent-Length: 0\r\n" % len(body),
            b"Content-Length: %d, 0\r\n" % len(body),
            b"Content-Length: +%d\r\n" % len(body),
            b"Content-Length: -1\r\n",
            b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % len(body),
            b"Transfer-Encoding: chunked, identity\r\n",
            b"Transfer-Encoding : chunked\r\n",
        ):
            status, said = await raw.say(start + heads + b"\r\n" + body)
            assert 400 <= status < 500, (heads, status, said)

    assert await api.rows() == rows


def body_of(method: str, path: str) -> bytes:
    """Return a body that the route would take, if it takes one."""
    content = OPERATIONS[path][method].get("requestBody", {}).get("content", {})
    examples = content.get("application/json", {}).get("examples", {})
    if examples:
        return json.dumps(next(iter(examples.values()))["value"]).encode()
    return b"{}" if "application/json" in content else b""


def is_refusal(status: int, body: bytes) -> bool:
    return 400 <= status < 500 and MARK.encode() not in body


def is_a_list(method: str, start: str, spelling: str, end: str) -> bool:
    """Tell whether nothing but the path of the list above remains."""
    return method == "get" and not end and not spelling and start.endswith("/")
