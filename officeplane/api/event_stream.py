"""Events as `text/event-stream`, written as they are read.

Nothing is queued for a reader: the next group of events is asked for when the
last one has been taken over by the connection, so one that stops reading stops
asking. A group is one piece of the answer, and an event is put into words once
for all readers.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, TypeAlias

import structlog
from fastapi.sse import format_sse_event
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from officeplane.api.problems import RefusedError
from officeplane.api.state import ServerState
from officeplane.api.views import time_text
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.event import Event, Reset
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.space import bare

KEEP_ALIVE_SECONDS: Final = 15.0
ADMITTED_SECONDS: Final = 0.5
"""How often it is asked whether a reader may go on; its key ends within a second."""
RESET: Final = "stream.reset"
FRAMES_KEPT: Final = 2_000

Followed: TypeAlias = Event | Reset

_log = structlog.stdlib.get_logger(__name__)


class EventStream(Response):
    """An answer that goes on until its reader leaves or the server stops."""

    media_type = "text/event-stream"

    def __init__(
        self,
        feed: AsyncGenerator[Sequence[Followed]],
        is_wanted: Callable[[Event], bool],
        state: ServerState,
        stay_admitted: Callable[[], Awaitable[None]] | None = None,
        held: AbstractContextManager[None] | None = None,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
    ) -> None:
        """Write what a feed tells and somebody wants.

        `stay_admitted` raises when its reader may not go on, `held` is entered for as long as it lasts.
        """
        # Proxies must neither keep what they pass on nor hold it back.
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["Content-Length"]
        self._feed = feed
        self._is_wanted = is_wanted
        self._state = state
        self._stay_admitted = stay_admitted
        self._held = held or nullcontext()
        self._keep_alive_seconds = keep_alive_seconds
        self._written_at = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write until one of these has had its end."""
        del scope
        with self._held:
            await self._stream(receive, send)

    async def _stream(self, receive: Receive, send: Send) -> None:
        self._state.streams += 1
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        parts = {
            asyncio.create_task(part)
            for part in (
                self._write_events(send),
                self._keep_alive(send),
                *([] if self._stay_admitted is None else [self._admitted(self._stay_admitted)]),
                _left(receive),
                self._state.stopping.wait(),
            )
        }
        try:
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in parts:
                part.cancel()
            outcomes = await asyncio.gather(*parts, return_exceptions=True)
            self._state.streams -= 1
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _write_events(self, send: Send) -> None:
        try:
            async with aclosing(self._feed) as feed:
                async for group in feed:
                    wanted = [frame(item) for item in group if isinstance(item, Reset) or self._is_wanted(item)]
                    if wanted:
                        await self._write(send, b"".join(wanted))
        except DatabaseUnavailableError as error:
            # The reader comes back with its last id, and is told 503 for as long as it lasts.
            _log.info("event_stream.interrupted", error=str(error))

    async def _keep_alive(self, send: Send) -> None:
        """Write at once, for readers that wait for a first byte, and then whenever it has been quiet for long."""
        await self._write(send, format_sse_event(comment="connected"))
        while True:
            quiet = asyncio.get_running_loop().time() - self._written_at
            if quiet >= self._keep_alive_seconds:
                await self._write(send, format_sse_event(comment="still here"))
            else:
                await asyncio.sleep(self._keep_alive_seconds - quiet)

    async def _admitted(self, stay_admitted: Callable[[], Awaitable[None]]) -> None:
        """Return once the reader may read no more, or nobody can tell: it comes back and is told why."""
        try:
            while True:
                await asyncio.sleep(ADMITTED_SECONDS)
                await stay_admitted()
        except (RefusedError, DatabaseUnavailableError) as error:
            _log.info("event_stream.ended", why=str(error))

    async def _write(self, send: Send, chunk: bytes) -> None:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._written_at = asyncio.get_running_loop().time()


def frame(item: Followed) -> bytes:
    """Return an event as it goes over the wire; its id is where a reader resumes."""
    if isinstance(item, Reset):
        facts = _facts(RESET, None, None, None, datetime.now(UTC), {})
        return format_sse_event(event=RESET, data_str=facts)
    return _frame(item)


@lru_cache(FRAMES_KEPT)
def _frame(event: Event) -> bytes:
    of_dag = {} if event.dag_id is None else {"dagId": event.dag_id}
    document_id = None if event.document_id is None else bare(event.document_id)
    facts = _facts(event.kind, event.task_id, document_id, _state_in(event.kind), event.at, of_dag)
    return format_sse_event(event=event.kind, data_str=facts, id=str(event.position))


def _facts(
    kind: str, task_id: str | None, document_id: str | None, state: str | None, at: datetime, more: Mapping[str, str]
) -> str:
    facts = {"type": kind, "taskId": task_id, "documentId": document_id, "state": state, "at": time_text(at), **more}
    return json.dumps(facts)


def _state_in(kind: str) -> str | None:
    """Return the state that an event such as `task.queued` tells of."""
    noun, _, name = kind.partition(".")
    state = name.upper()
    return state if noun == "task" and state in TaskState.__members__ else None


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
