"""How much of bodies and of answers a process holds at a time, and who is told what when it has to end."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import httpx
import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from officeplane.api.rooms import SMALL, Rooms
from officeplane.config import Settings
from tests.api.client import Api, client_of, code_of, running

LARGE = b'{"taskType": "noop", "payload": {"x": "' + b"x" * 400_000 + b'"}}'
TYPED = {"Content-Type": "application/json"}
LARGE_PATH = "/openapi.json"
ANSWERS = {"/large": b"x" * 300_000, "/small": b"x" * SMALL}


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    await Response(ANSWERS[scope["path"]])(scope, receive, send)


def asked(path: str) -> Scope:
    named = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}
    return {**scope, "headers": named, "scheme": "http", "http_version": "1.1", "root_path": "", "server": None}


async def nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def read_by(may_go_on: asyncio.Event, begun: asyncio.Event, body: list[bytes]) -> Callable[[Message], Awaitable[None]]:
    async def read(message: Message) -> None:
        body.append(message.get("body", b""))
        if body[-1]:
            begun.set()
            await may_go_on.wait()

    return read


async def test_large_bodies_have_a_room_and_small_ones_always_fit(api: Api) -> None:
    room = Rooms(api.app, bodies_max=len(LARGE) + SMALL)
    half_sent, may_end = asyncio.Event(), asyncio.Event()

    async def slowly() -> AsyncGenerator[bytes]:
        yield LARGE[:-1]
        half_sent.set()
        await may_end.wait()
        yield LARGE[-1:]

    async with httpx.AsyncClient(transport=httpx.ASGITransport(room), base_url="http://localhost") as client:
        first = asyncio.ensure_future(client.post("/api/tasks", content=slowly(), headers=TYPED))
        await half_sent.wait()
        before = await api.rows()
        refused = await client.post("/api/tasks", content=LARGE, headers=TYPED)
        small = await client.post("/api/tasks", json={"taskType": "noop"})
        may_end.set()
        await first
        again = await client.post("/api/tasks", content=LARGE, headers=TYPED)

    assert code_of(refused) == (429, "overloaded")
    assert refused.headers["Retry-After"] == "1"
    assert small.status_code == 201
    assert await api.rows() == before + 1
    # The type knows no such payload: the body was taken, and looked at.
    assert code_of(await first) == code_of(again) == (422, "invalid_payload")


async def test_answers_that_are_not_read_have_a_room_and_small_ones_always_leave() -> None:
    room = Rooms(answer, answers_max=500_000)
    begun, may_go_on = asyncio.Event(), asyncio.Event()
    body: list[bytes] = []

    async with httpx.AsyncClient(transport=httpx.ASGITransport(room), base_url="http://localhost") as client:
        reading = asyncio.ensure_future(room(asked("/large"), nothing, read_by(may_go_on, begun, body)))
        await begun.wait()
        refused = await client.get("/large")
        done = await client.post("/large")
        small = await client.get("/small")
        may_go_on.set()
        await reading
        again = await client.get("/large")

    assert code_of(refused) == (429, "overloaded")
    assert refused.headers["Retry-After"] == "1"
    # What was done cannot be refused any more.
    assert (done.status_code, small.status_code) == (200, 200)
    assert b"".join(body) == again.content == ANSWERS["/large"]


async def test_an_answer_is_given_to_the_server_as_quickly_as_it_is_read(api: Api) -> None:
    begun, may_go_on = asyncio.Event(), asyncio.Event()
    body: list[bytes] = []

    reading = asyncio.ensure_future(api.app(asked(LARGE_PATH), nothing, read_by(may_go_on, begun, body)))
    await begun.wait()
    given = b"".join(body)
    may_go_on.set()
    await reading

    assert 0 < len(given) <= SMALL
    assert len(b"".join(body)) > SMALL


async def stopped(scope: Scope, receive: Receive, send: Send) -> None:
    """What becomes of a request when the server closes what it works with, before or amid the answer."""
    del receive
    if scope["path"] == "/amid":
        await send({"type": "http.response.start", "status": 200, "headers": []})
    raise asyncio.CancelledError


async def test_who_is_still_waited_for_when_the_server_ends_is_told_so() -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(Rooms(stopped)), base_url="http://localhost") as client:
        for answer in (await client.get("/before"), await client.post("/before", content=LARGE)):
            assert code_of(answer) == (503, "server_stopping")
            assert answer.headers["Connection"] == "close"


async def test_an_answer_that_was_begun_when_the_server_ends_is_not_begun_again() -> None:
    said: list[Message] = []

    async def hear(message: Message) -> None:
        said.append(message)

    with pytest.raises(asyncio.CancelledError):
        await Rooms(stopped)(asked("/amid"), nothing, hear)

    assert [message["type"] for message in said] == ["http.response.start"]


async def test_pages_of_allowed_origins_read_why_nothing_came_of_their_request(api_settings: Settings) -> None:
    async def stop() -> None:
        raise asyncio.CancelledError

    theirs = {"Origin": "https://app.example", **TYPED}
    settings = api_settings.model_copy(update={"allowed_origins": ("https://app.example",)})
    async with running(settings) as app, client_of(app) as client:
        app.add_api_route("/stopped", stop)
        refused = await client.post("/api/tasks", content=b" " * 1024 * 1024 + b"{}", headers=theirs)
        ended = await client.get("/stopped", headers=theirs)

    assert (code_of(refused), code_of(ended)) == ((413, "too_large"), (503, "server_stopping"))
    for answer in (refused, ended):
        assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
