"""How much of answers a process holds at a time."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from officeplane.api.answer_room import SMALL, AnswerRoom
from tests.api.plane import Api, code_of

LARGE = "/openapi.json"
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


async def test_answers_that_are_not_read_have_a_room_and_small_ones_always_leave() -> None:
    room = AnswerRoom(answer, bytes_max=500_000)
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

    reading = asyncio.ensure_future(api.app(asked(LARGE), nothing, read_by(may_go_on, begun, body)))
    await begun.wait()
    given = b"".join(body)
    may_go_on.set()
    await reading

    assert 0 < len(given) <= SMALL
    assert len(b"".join(body)) > SMALL
