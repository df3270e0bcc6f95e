"""Presence: what is computed for a caller ends when the caller hangs up."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

Value = TypeVar("Value")


async def while_there(request: Request, deed: Coroutine[Any, Any, Value]) -> Value:
    """Return what a deed comes to; it is stopped when whoever asked has gone."""
    doing, leaving = asyncio.ensure_future(deed), asyncio.ensure_future(_leaving(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise ClientDisconnect
        return doing.result()
    finally:
        doing.cancel()
        leaving.cancel()
        await asyncio.gather(doing, leaving, return_exceptions=True)


async def _leaving(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
