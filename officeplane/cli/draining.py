"""Event streams end when their server stops; what else was asked is still answered.

A stream of events never ends by itself. Left alone, one open dashboard would
hold up every stop until the drain's deadline, and then be cut off in the middle.
"""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Draining:
    """An application, and the way to end its event streams."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._streams: set[asyncio.Task[object]] = set()
        self._stopping = False

    def end_streams(self) -> None:
        """End what streams now, and what would begin to."""
        self._stopping = True
        for stream in self._streams:
            stream.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does."""
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            await self._app(scope, receive, send)
            return

        async def note_streams(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start" and _is_endless(message):
                self._streams.add(task)
                if self._stopping:
                    task.cancel()

        try:
            await self._app(scope, receive, note_streams)
        except asyncio.CancelledError:
            if not self._stopping or task not in self._streams:
                raise
            # Ours, and only now: the client sees an answer that is complete.
            task.uncancel()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._streams.discard(task)


def _is_endless(start: Message) -> bool:
    return Headers(raw=list(start["headers"])).get("content-type", "").startswith("text/event-stream")
