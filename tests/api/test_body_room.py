"""How much of bodies a process holds at a time."""

import asyncio
from collections.abc import AsyncGenerator

import httpx

from officeplane.api.body_room import SMALL, BodyRoom
from tests.api.plane import Api, code_of

LARGE = b'{"taskType": "noop", "payload": {"x": "' + b"x" * 400_000 + b'"}}'
TYPED = {"Content-Type": "application/json"}


async def test_large_bodies_have_a_room_and_small_ones_always_fit(api: Api) -> None:
    room = BodyRoom(api.app, bytes_max=len(LARGE) + SMALL)
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
