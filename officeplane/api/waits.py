"""Waits on behalf of a caller: none goes on for a caller who hung up, or beyond the end of the server."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from officeplane.api.callers import principal_of, stay_admitted
from officeplane.api.state import runtime_of, state_of
from officeplane.domain.ids import TaskId
from officeplane.domain.task import TaskDetails

Value = TypeVar("Value")


async def wait_for(request: Request, task_id: TaskId, seconds: float) -> TaskDetails:
    """Return the task once it is final, the time is over, or the server is about to stop."""
    runtime, caller = runtime_of(request), principal_of(request)
    with await runtime.spaces.wait(caller):
        return await _waited_for(request, task_id, seconds)


async def _waited_for(request: Request, task_id: TaskId, seconds: float) -> TaskDetails:
    runtime = runtime_of(request)
    waiting = asyncio.ensure_future(runtime.long_poll.wait(principal_of(request), task_id, seconds))
    stopping = asyncio.ensure_future(state_of(request).stopping.wait())
    try:
        await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        # Much may have happened meanwhile: the key that the caller came with may have been revoked.
        await stay_admitted(request)
        return waiting.result() if waiting.done() else await runtime.tasks.find(principal_of(request), task_id)
    finally:
        waiting.cancel()
        stopping.cancel()


async def wait_for_news(request: Request, news: Coroutine[Any, Any, None]) -> None:
    """Return once there is news, which ends by itself, or the server is about to stop."""
    with await runtime_of(request).spaces.wait(principal_of(request)):
        waiting = asyncio.ensure_future(news)
        stopping = asyncio.ensure_future(state_of(request).stopping.wait())
        try:
            await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            await stay_admitted(request)
        finally:
            waiting.cancel()
            stopping.cancel()
            await asyncio.gather(waiting, stopping, return_exceptions=True)


async def while_there(request: Request, work: Coroutine[Any, Any, Value]) -> Value:
    """Return what some work comes to; it is stopped when whoever asked has gone."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_leaving(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _leaving(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
