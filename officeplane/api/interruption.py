"""Interruption: who is still waited for when the server has to end is told so, and not that something is wrong here."""

import asyncio
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from officeplane.api.problems import problem

_DETAIL: Final = "This server has to end and does not know what became of the request; ask again."


class Interruption:
    """ASGI middleware that answers what is cancelled, which only a server does that closes what it works with."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_answered = False

        async def sent(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        try:
            await self._app(scope, receive, sent)
        except asyncio.CancelledError:
            if scope["type"] != "http" or is_answered:
                raise
            await problem("server_stopping", _DETAIL, headers={"Connection": "close"})(scope, receive, send)
