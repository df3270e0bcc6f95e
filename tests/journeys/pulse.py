"""A pulse: a server is asked whether it lives, again and again, from a thread of its own.

What is measured of an answer is how long the server itself was at work meanwhile.
On a machine with other work to do an answer may take long though nothing in the
server is in its way; then its processor time tells. Python's lock lets one thread
of the server work at a time, so it cannot be held for longer than that either.
"""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from tests.journeys.processes import Server

BETWEEN_SECONDS: Final = 0.05


class Beat(NamedTuple):
    """How long one answer took, and how long of that the server was at work."""

    waited_seconds: float
    worked_seconds: float

    @property
    def held_seconds(self) -> float:
        """For how long, at most, something in the server kept it from answering."""
        return min(self.waited_seconds, self.worked_seconds)


@contextmanager
def pulse(server: Server) -> Generator[list[Beat]]:
    """Ask until the block ends; the beats gather in the list."""
    beats: list[Beat] = []
    enough = threading.Event()
    asking = threading.Thread(target=_ask, args=(server, beats, enough))
    asking.start()
    try:
        yield beats
    finally:
        enough.set()
        asking.join()


def _ask(server: Server, beats: list[Beat], enough: threading.Event) -> None:
    url = urlsplit(server.url)
    connection = HTTPConnection(url.hostname or "", url.port, timeout=120)
    clock = _clock_of(server.process.pid)
    while not enough.wait(BETWEEN_SECONDS):
        began, worked = time.monotonic(), time.clock_gettime(clock)
        connection.request("GET", "/api/health/live")
        assert connection.getresponse().read()
        # One that is kept would be closed by the server if this thread stood still.
        connection.close()
        beats.append(Beat(time.monotonic() - began, time.clock_gettime(clock) - worked))


def _clock_of(pid: int) -> int:
    """Return the clock of a process's processor time, as Linux numbers them."""
    return ~pid << 3 | 2
