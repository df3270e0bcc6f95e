"""The limit on bodies: whoever sends more is told so before all of it was read."""

import asyncio
import re
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from officeplane.api.problems import RefusedError

JSON_BYTES_MAX: Final = 1024 * 1024
BULK_BYTES_MAX: Final = 16 * 1024 * 1024
DOCUMENT_BYTES_MAX: Final = 50 * 1024 * 1024
BULK_PATHS: Final = frozenset({"/api/tasks/bulk", "/api/dags"})
DAG_TASKS: Final = re.compile(r"/api/dags/[^/]+/tasks")

# A connection closed with bytes unread is reset, and the answer may be lost with
# it. So what still comes is thrown away for a little while.
LINGER_SECONDS: Final = 2.0
LINGER_BYTES: Final = 16 * 1024 * 1024


class BodyLimit:
    """ASGI middleware that ends the reading of a body at its limit."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in {"GET", "HEAD"}:
            body = _LimitedBody(scope, receive, send)
            await self._app(scope, body.receive, body.send)
        else:
            await self._app(scope, receive, send)


class _LimitedBody:
    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._limit = _limit_of(scope)
        self._bytes = _declared_length(scope)
        self._declared = self._bytes > 0
        self._refused = False

    async def receive(self) -> Message:
        self._refuse_too_much()
        message = await self._receive()
        if not self._declared:
            self._bytes += len(message.get("body", b""))
            self._refuse_too_much()
        return message

    async def send(self, message: Message) -> None:
        ends = self._refused and message["type"] == "http.response.body" and not message.get("more_body", False)
        if ends:
            await self._send({**message, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_SECONDS):
                    await self._throw_away()
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)

    def _refuse_too_much(self) -> None:
        if self._bytes > self._limit:
            self._refused = True
            detail = f"The body is larger than {self._limit} bytes."
            raise RefusedError("too_large", detail, {"Connection": "close"})

    async def _throw_away(self) -> None:
        thrown = 0
        while thrown < LINGER_BYTES:
            message: MutableMapping[str, Any] = await self._receive()
            thrown += len(message.get("body", b""))
            if not message.get("more_body", False):
                return


def is_file(scope: Scope) -> bool:
    """Tell whether a body is a file, which goes to the disk as it comes."""
    return bool(scope["method"] == "PUT" and scope["path"].startswith("/api/documents/"))


def _limit_of(scope: Scope) -> int:
    if is_file(scope):
        return DOCUMENT_BYTES_MAX
    is_bulk = scope["path"] in BULK_PATHS or DAG_TASKS.fullmatch(scope["path"])
    return BULK_BYTES_MAX if is_bulk else JSON_BYTES_MAX


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value)
    return 0
