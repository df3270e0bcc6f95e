"""The room for bodies: how much of them the process holds at a time, whoever sends them."""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from officeplane.api.limits import is_file
from officeplane.api.problems import RefusedError

BYTES_MAX: Final = 128 * 1024 * 1024

SMALL: Final = 64 * 1024
"""So much of each body is not counted: large ones may fill the room, and small ones go on coming."""


class BodyRoom:
    """ASGI middleware that refuses what would be too much together with what is here already."""

    def __init__(self, app: ASGIApp, bytes_max: int = BYTES_MAX) -> None:
        self._app = app
        self._bytes_max = bytes_max
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what comes until the request is answered."""
        if scope["type"] != "http" or scope["method"] == "GET" or is_file(scope):
            await self._app(scope, receive, send)
            return
        came = 0
        held = 0

        async def received() -> Message:
            nonlocal came, held
            message = await receive()
            came += len(message.get("body", b""))
            more = max(0, came - SMALL) - held
            if more:
                if self._held + more > self._bytes_max:
                    raise RefusedError(
                        "overloaded", "Too many large bodies are being received at the moment; try again in a second."
                    )
                held += more
                self._held += more
            return message

        try:
            await self._app(scope, received, send)
        finally:
            self._held -= held
