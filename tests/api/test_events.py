import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import asyncpg
import httpx
import pytest
from starlette.types import Message

from officeplane.api.event_stream import EventStream
from officeplane.api.routes.events import STREAMS_MAX
from officeplane.api.state import ServerState
from officeplane.config import Settings
from officeplane.domain.event import Event, EventPosition
from officeplane.domain.ids import TaskId
from officeplane.store.migrate import migrate
from tests.api.client import UNKNOWN_ID, Api, Json, client_of, code_of, fields_of, running, served, state_in
from tests.conftest import NewDatabase
from tests.support import eventually


@dataclass(frozen=True, slots=True)
class Told:
    """One event as it came over the wire."""

    name: str
    id: str | None
    data: Json


class Stream:
    """An open stream of events."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def block(self) -> list[str]:
        """The lines up to the next empty one."""
        lines: list[str] = []
        async with asyncio.timeout(20):
            async for line in self._lines:
                if not line:
                    return lines
                lines.append(line)
        raise EOFError

    async def event(self) -> Told:
        """The next event; comments are passed over."""
        while True:
            fields = dict(line.split(": ", 1) for line in await self.block())
            if "data" in fields:
                return Told(fields["event"], fields.get("id"), json.loads(fields["data"]))

    async def until(self, kind: str, task_id: str) -> list[Told]:
        """Events up to one of a kind of a task."""
        told: list[Told] = []
        while not told or (told[-1].name, told[-1].data["taskId"]) != (kind, task_id):
            told.append(await self.event())
        return told


@asynccontextmanager
async def stream(url: str, last_id: str | None = None, *, key: str = "", **query: str) -> AsyncGenerator[Stream]:
    headers = {} if last_id is None else {"Last-Event-ID": last_id}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as client,
        client.stream("GET", "/api/events", params=query, headers=headers) as response,
    ):
        assert response.status_code == 200
        opened = Stream(response)
        # The first comment says that what happens from now on will be told.
        await opened.block()
        yield opened


async def test_what_happens_to_a_task_is_told_in_order(api: Api, url: str) -> None:
    async with stream(url) as events:
        assert events.response.headers["Content-Type"].startswith("text/event-stream")
        task = await api.submit(documentId="doc:told")
        await api.end(await api.start(task["id"]))

        told = await events.until("task.completed", task["id"])

    mine = [one for one in told if one.data["taskId"] == task["id"]]
    assert [one.name for one in mine] == ["task.queued", "task.running", "task.completed"]
    assert [one.data["state"] for one in mine] == ["QUEUED", "RUNNING", "COMPLETED"]
    assert all(set(one.data) == {"type", "taskId", "documentId", "state", "at"} for one in mine)
    assert all((one.data["type"], one.data["documentId"]) == (one.name, "doc:told") for one in mine)
    assert all(one.id and one.data["at"].endswith("Z") for one in mine)


async def test_a_stream_of_one_task_tells_of_no_other(api: Api, url: str) -> None:
    mine = await api.submit()
    async with stream(url, taskId=mine["id"].upper()) as events:
        await api.submit()
        await api.post(f"/api/tasks/{mine['id']}/cancel", {})

        assert (await events.event()).data["taskId"] == mine["id"]


async def test_a_stream_of_one_document_tells_of_no_other(api: Api, url: str) -> None:
    async with stream(url, documentId="doc:mine") as events:
        await api.submit(documentId="doc:other")
        await api.submit()
        mine = await api.submit(documentId="doc:mine")

        assert (await events.event()).data["taskId"] == mine["id"]


async def test_a_reader_that_comes_back_misses_nothing(api: Api, url: str) -> None:
    async with stream(url) as events:
        first = await api.submit()
        last_id = (await events.until("task.queued", first["id"]))[-1].id
    missed = [(await api.submit())["id"] for _ in range(5)]

    async with stream(url, last_id) as events:
        told = await events.until("task.queued", missed[-1])

    assert [one.data["taskId"] for one in told] == missed


async def test_a_reader_that_left_in_the_middle_of_a_bulk_is_told_the_rest(api: Api) -> None:
    # By a server that remembers nothing, as after a restart.
    async with running(api.settings) as first, served(first) as url, stream(url) as events:
        bulk = (await api.post("/api/tasks/bulk", [{"taskType": "noop"}] * 5)).json()
        last_id = (await events.until("task.queued", bulk[1]["id"]))[-1].id

    async with running(api.settings) as second, served(second) as url, stream(url, last_id) as events:
        told = await events.until("task.queued", bulk[4]["id"])

    assert [one.data["taskId"] for one in told][-3:] == [task["id"] for task in bulk[2:]]


async def test_reading_with_broken_connections_gives_the_same_as_reading_through(api: Api, url: str) -> None:
    wanted = 40

    async def broken() -> list[tuple[str | None, str]]:
        told: dict[str | None, str] = {}
        last_id: str | None = start
        while len(told) < wanted:
            async with stream(url, last_id, documentId="doc:broken") as events:
                for _ in range(min(3, wanted - len(told))):
                    event = await events.event()
                    told[event.id], last_id = event.data["taskId"], event.id
        return list(told.items())

    async with stream(url, documentId="doc:broken") as whole:
        await api.submit(documentId="doc:broken")
        start = (await whole.event()).id
        reading = asyncio.create_task(broken())
        for _ in range(wanted // 4):
            await api.post("/api/tasks/bulk", [{"taskType": "noop", "documentId": "doc:broken"}] * 4)
        events = [await whole.event() for _ in range(wanted)]

    assert await reading == [(event.id, event.data["taskId"]) for event in events]


@pytest.mark.parametrize("last_id", ["0-0-0", "nonsense", "1", "99999999999999999999-9999999999999999999-0", "1-2-3-4"])
async def test_an_id_that_is_not_held_resets_the_stream_which_then_goes_on(api: Api, url: str, last_id: str) -> None:
    await api.submit()

    async with stream(url, last_id) as events:
        reset = await events.event()
        task = await api.submit()
        told = await events.until("task.queued", task["id"])

    assert (reset.name, reset.data["type"]) == ("stream.reset", "stream.reset")
    assert told[-1].id


async def test_a_first_reader_of_a_fresh_installation_is_told_of_no_gap(
    new_database: NewDatabase, redis_url: str
) -> None:
    settings = Settings(database_url=await new_database(), redis_url=redis_url, key_prefix="api-fresh-tests")
    await migrate(settings.database_url)
    async with running(settings) as app, client_of(app) as client, served(app) as url, stream(url) as events:
        await client.post("/api/tasks", json={"taskType": "noop"})

        assert (await events.event()).name == "task.queued"


async def test_an_id_that_has_expired_resets_the_stream(api: Api) -> None:
    async with running(api.settings) as app, served(app) as url:
        async with stream(url) as events:
            task = await api.submit()
            last_id = (await events.until("task.queued", task["id"]))[-1].id
        connection = await asyncpg.connect(api.settings.database_url)
        try:
            await connection.execute("DELETE FROM events")
        finally:
            await connection.close()
        await api.submit()

        async with stream(url, last_id) as events:
            assert (await events.event()).name == "stream.reset"


@pytest.mark.parametrize(
    ("query", "field"),
    [("taskId=nope", "taskId"), ("documentId=-", "documentId"), ("documentId=", "documentId"), ("since=5", "since")],
)
async def test_a_stream_of_nothing_known_is_refused(api: Api, query: str, field: str) -> None:
    response = await api.client.get(f"/api/events?{query}")

    assert code_of(response) == (422, "invalid_parameter")
    assert fields_of(response) == [field]


async def test_a_reader_that_left_is_forgotten(api: Api, url: str) -> None:
    state = state_in(api.app)
    async with stream(url), stream(url):
        assert state.streams == 2

    await eventually(lambda: state.streams == 0)


async def test_one_reader_too_many_is_told_to_come_back(api: Api) -> None:
    state = state_in(api.app)
    state.streams += STREAMS_MAX
    try:
        response = await api.get("/api/events")
    finally:
        state.streams -= STREAMS_MAX

    assert code_of(response) == (429, "overloaded")
    assert response.headers["Retry-After"] == "1"


async def test_a_server_that_stops_ends_its_streams(api: Api) -> None:
    async with running(api.settings) as app, served(app) as url, stream(url) as events:
        state_in(app).stopping.set()

        with pytest.raises(EOFError):
            await events.block()


async def test_a_server_that_stops_answers_who_waits_for_a_task(api: Api) -> None:
    task = await api.submit()
    async with running(api.settings) as app, client_of(app) as client:
        waiting = asyncio.create_task(client.get(f"/api/tasks/{task['id']}", params={"wait": 60}))
        await asyncio.sleep(0)

        state_in(app).stopping.set()

        async with asyncio.timeout(30):
            assert (await waiting).json()["state"] == "QUEUED"


async def silence() -> AsyncGenerator[Sequence[Event]]:
    await asyncio.Event().wait()
    raise AssertionError
    yield


async def test_silence_is_broken_by_comments() -> None:
    state = ServerState()
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)
        if len(sent) == 4:
            state.stopping.set()

    response = EventStream(silence(), lambda _: True, state, keep_alive_seconds=0.01)
    async with asyncio.timeout(30):
        await response({"type": "http"}, receive, send)

    assert [message["body"] for message in sent[1:4]] == [b": connected\n\n", b": still here\n\n", b": still here\n\n"]


async def test_nothing_is_read_ahead_for_a_reader_that_does_not_read() -> None:
    asked = 0
    event = Event(EventPosition(1, 1), "task.queued", TaskId(UNKNOWN_ID), None, datetime.now(UTC))

    async def endless() -> AsyncGenerator[Sequence[Event]]:
        nonlocal asked
        while True:
            asked += 1
            yield [event]

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    room = asyncio.Semaphore(5)

    async def send(_message: Message) -> None:
        await room.acquire()

    writing = asyncio.create_task(
        EventStream(endless(), lambda _: True, ServerState())({"type": "http"}, receive, send)
    )
    await eventually(lambda: room.locked() and asked)
    for _ in range(100):
        await asyncio.sleep(0)

    assert asked <= 5
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
