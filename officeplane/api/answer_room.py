"""The room for answers: how much of them the process holds at a time for those who are still reading."""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from officeplane.api.problems import problem

BYTES_MAX: Final = 128 * 1024 * 1024

SMALL: Final = 64 * 1024
"""So large answers are not counted: large ones may fill the room, and small ones go on leaving."""


class AnswerRoom:
    """ASGI middleware that refuses to hold an answer that is too much together with what is still being read.

    A large answer is given to the server in small parts, so that it is held here, and
    counted, until it was read; the server itself would take all of it at once.
    """

    def __init__(self, app: ASGIApp, bytes_max: int = BYTES_MAX) -> None:
        self._app = app
        self._bytes_max = bytes_max
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what is sent until it is read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        held = 0
        is_refused = False

        async def sent(message: Message) -> None:
            nonlocal start, held, is_refused
            if is_refused:
                return
            if message["type"] == "http.response.start" and _is_large(message):
                start = message
                return
            size = len(message.get("body", b""))
            if start is not None:
                # What was done cannot be refused any more.
                if scope["method"] == "GET" and self._held + size > self._bytes_max:
                    is_refused = True
                    detail = "Too many large answers are being read at the moment; try again in a second."
                    await problem("overloaded", detail)(scope, receive, send)
                    return
                begun, start = start, None
                await send(begun)
            if size > held:
                self._held += size - held
                held = size
            await _in_parts(message, send)

        try:
            await self._app(scope, receive, sent)
        finally:
            self._held -= held


def _is_large(start: Message) -> bool:
    return any(name == b"content-length" and int(value) > SMALL for name, value in start.get("headers", ()))


async def _in_parts(message: Message, send: Send) -> None:
    body: bytes = message.get("body", b"")
    if len(body) <= SMALL:
        await send(message)
        return
    goes_on = message.get("more_body", False)
    for at in range(0, len(body), SMALL):
        is_last = at + SMALL >= len(body)
        await send({**message, "body": body[at : at + SMALL], "more_body": goes_on or not is_last})
