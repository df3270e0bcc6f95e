"""Connections: how long one may take and how much it may send, so that nobody has to be trusted to go on or to end.

uvicorn waits for as long as a connection wants, and keeps whatever a parser has not understood yet. Here a request has
a time for its head and for its body, and an answer a time in which something of it has to be read. Nothing is timed per
request: the server tells its connections once a second that they grew older, and only while they keep us waiting. A
server that stood still does not blame its callers, because it told them nothing meanwhile.

When there are as many connections as there may be, the one that has waited longest for its next request makes room for
the new one. So half-open connections, however many, cost whoever opens them their own places and nobody else's.
uvicorn's `limit_concurrency` would instead refuse all requests once there are that many connections.
"""

import asyncio
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

import httptools
from uvicorn import Config
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from officeplane.api.answer_headers import ANSWERS_SAY
from officeplane.api.problems import problem

MIB: Final = 1024 * 1024

# A connection closed with bytes unread is reset, and the answer may be lost with
# it. So what still comes is thrown away for a little while.
LINGER_SECONDS: Final = 2.0
LINGER_BYTES: Final = 16 * MIB


@dataclass(frozen=True, slots=True)
class WireLimits:
    """What a connection may take."""

    head_seconds: float = 10.0
    """From the first moment of a connection, or the first byte of a later request, to the end of its headers."""

    head_bytes: int = 64 * 1024
    """Of the request line and the headers."""

    body_seconds: float = 60.0
    body_seconds_per_mib: float = 1.0
    """For the whole of a body, and for each MiB that came besides."""

    slow_seconds: float = 10.0
    slow_bytes_per_second: int = 1024
    """Over that time a body has to come at this rate at least."""

    unread_seconds: float = 30.0
    """For how long nothing of an answer may be read."""

    connections: int = 4_096


USUAL: Final = WireLimits()


class Phase(Enum):
    """What a connection is waited for, if it is."""

    HEAD = auto()
    BODY = auto()
    OURS = auto()


class Connection(HttpToolsProtocol):
    """One connection, within limits."""

    def __init__(
        self,
        limits: WireLimits,
        waiting: "dict[Connection, None]",
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = limits
        # All connections of the server on which no request is under way; who came first is first.
        self._waiting = waiting
        self._phase = Phase.HEAD
        self._answered: RequestResponseCycle | None = None
        self._waited_seconds = 0.0
        self._not_understood = 0
        self._body_bytes = 0
        self._slow_bytes = 0
        self._slow_seconds = 0.0
        self._thrown_away = 0
        self._unsent = 0
        self._unread_seconds = 0.0
        self._is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # so does uvicorn
        """Take a place, if need be that of whoever waited longest for a request."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            self._make_room()
        if not self._is_refused:
            self._waiting[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back, and tell whatever works on an answer."""
        self._waiting.pop(self, None)
        self._tell_that_the_caller_left()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Understand what came, unless it is too much to be understood."""
        if self._is_refused:
            return
        if self._phase is Phase.OURS:
            self._expect_head()
        self._not_understood += len(data)
        super().data_received(data)
        if self._not_understood > self._limits.head_bytes and not self._is_refused:
            self._refuse_head()

    def on_message_begin(self) -> None:
        """See a further request begin, perhaps in the bytes that the last one ended with."""
        if self._phase is Phase.OURS:
            self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begin with a request whose head is small enough."""
        # Another may have come in the same bytes, behind the one that was refused.
        if self._is_refused:
            return
        # The bytes may be those of the last body, too; what a head has exactly is only asked when it matters.
        if self._not_understood > self._limits.head_bytes and self._head_bytes() > self._limits.head_bytes:
            self._refuse_head()
            return
        if not self.url.startswith((b"/", b"*")):
            self._take_host_of_target()
        super().on_headers_complete()
        self._waiting.pop(self, None)
        self._not_understood = 0
        self._phase = Phase.BODY
        self._waited_seconds = self._slow_seconds = 0.0
        self._body_bytes = self._slow_bytes = self._thrown_away = 0

    def on_body(self, body: bytes) -> None:
        """Count what came of a body, and hang up on whoever goes on long after the answer."""
        if self._is_refused:
            return
        self._not_understood = 0
        self._body_bytes += len(body)
        self._slow_bytes += len(body)
        if self.cycle.response_complete:
            self._thrown_away += len(body)
            if self._thrown_away > LINGER_BYTES:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Know that it is our turn."""
        if self._is_refused:
            return
        self._not_understood = 0
        self._phase = Phase.OURS
        super().on_message_complete()
        if self.cycle.response_complete:
            self._waiting[self] = None

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self._phase is Phase.OURS and not self._is_answering() and not self.transport.is_closing():
            self._waiting[self] = None

    def resume_writing(self) -> None:
        """Know that something was read, however much was written since."""
        self._unsent = 0
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP in the words of all other refusals."""
        del msg
        if not self._is_refused:
            self._refuse("malformed_request", "This is not a request of HTTP/1.1 that can be understood.")

    def grow_older(self, seconds: float) -> None:
        """Be told that this much time has passed, and end what took too long."""
        self._look_for_a_reader(seconds)
        if self._is_refused or self.flow.read_paused or self.transport.is_closing():
            return
        if self._phase is Phase.HEAD and not self._is_answering():
            self._waited_seconds += seconds
            if self._waited_seconds >= self._limits.head_seconds:
                self._end_late_head()
        elif self._phase is Phase.BODY and not self.cycle.waiting_for_100_continue:
            self._waited_seconds += seconds
            self._slow_seconds += seconds
            self._end_late_body()

    def _expect_head(self) -> None:
        self._phase = Phase.HEAD
        self._waited_seconds = 0.0

    def _is_answering(self) -> bool:
        return self._answered is not None and not self._answered.response_complete

    def _make_room(self) -> None:
        longest = next(iter(self._waiting), None)
        if longest is None:
            busy = f"This server has {self._limits.connections:,} connections, all of them busy; try again in a second."
            self._refuse("overloaded", busy)
        else:
            longest.leave()

    def leave(self) -> None:
        """Make room for another connection."""
        del self._waiting[self]
        # It counts no more from now on, though the loop hears of its end only later.
        self.connections.discard(self)
        self.transport.abort()

    def _head_bytes(self) -> int:
        # A colon, a space and the end of the line are with each header.
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _take_host_of_target(self) -> None:
        """Put the host of an absolute target in the place of `Host`, which it overrules (RFC 9112, 3.2.2)."""
        target = httptools.parse_url(self.url)
        authority = b"[%b]" % target.host if b":" in target.host else target.host
        if target.port:
            authority += b":%d" % target.port
        self.headers[:] = [(name, authority if name == b"host" else value) for name, value in self.headers]

    def _refuse_head(self) -> None:
        detail = f"The request line and the headers are larger than {self._limits.head_bytes} bytes."
        self._refuse("headers_too_large", detail)

    def _end_late_head(self) -> None:
        if self._not_understood == 0:
            # Nobody asked anything: browsers open connections ahead.
            self.transport.close()
        else:
            self._refuse("request_timeout", f"The headers did not arrive within {self._limits.head_seconds:g} s.")

    def _end_late_body(self) -> None:
        limits = self._limits
        if self._waited_seconds >= limits.body_seconds + limits.body_seconds_per_mib * self._body_bytes / MIB:
            self._refuse("request_timeout", f"The body did not arrive within {self._waited_seconds:g} s.")
        elif self._slow_seconds >= limits.slow_seconds:
            if self._slow_bytes < limits.slow_bytes_per_second * self._slow_seconds:
                detail = f"The body came slower than {limits.slow_bytes_per_second} bytes a second."
                self._refuse("request_timeout", detail)
            self._slow_bytes = 0
            self._slow_seconds = 0.0

    def _look_for_a_reader(self, seconds: float) -> None:
        unsent = self.transport.get_write_buffer_size()
        # While there is room, or an answer goes on, the buffer may grow though something of it was read.
        is_all_there = self.flow.write_paused or not self._is_answering()
        is_unread = is_all_there and 0 < self._unsent <= unsent
        self._unread_seconds = self._unread_seconds + seconds if is_unread else 0.0
        self._unsent = unsent
        if self._unread_seconds >= self._limits.unread_seconds:
            self.transport.abort()

    def _tell_that_the_caller_left(self) -> None:
        # uvicorn tells only the last of requests that were sent ahead of their answers.
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def _refuse(self, code: str, detail: str) -> None:
        """Say why nothing comes of this connection any more, and end it."""
        self._is_refused = True
        self._waiting.pop(self, None)
        if self._phase is Phase.BODY:
            is_too_late = self.cycle.response_started
            self._tell_that_the_caller_left()
        else:
            is_too_late = self._is_answering()
        if is_too_late:
            self.transport.abort()
            return
        self.flow.resume_reading()
        self.transport.write(_as_bytes(code, detail))
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: a request that would rather speak something else is answered in what it came in."""


def _as_bytes(code: str, detail: str) -> bytes:
    answer = problem(code, detail, headers={"Connection": "close", **ANSWERS_SAY})
    lines = [b"%b: %b\r\n" % header for header in answer.raw_headers]
    return b"".join([STATUS_LINE[answer.status_code], *lines, b"\r\n", bytes(answer.body)])
