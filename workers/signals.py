"""Signals set flags; the pool decides what they mean.

They are heard between two steps of whatever runs, not by the loop: neither a
handler that holds the loop up nor a server that does not answer can keep a
worker from stopping at once when it is told so.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

LAST_SECONDS: Final = 1.7


class StopSignals:
    """The first SIGTERM or Ctrl-C asks to drain, the second to stop at once."""

    def __init__(self) -> None:
        self.drain = asyncio.Event()
        self.stop = asyncio.Event()

    def heard(self) -> None:
        """Note one signal."""
        if self.drain.is_set():
            self.stop.set()
        self.drain.set()


@contextmanager
def stop_signals() -> Generator[StopSignals, None, None]:
    """Listen for SIGTERM and SIGINT for as long as the block lasts; the second leaves it little time to end."""
    signals = StopSignals()
    loop = asyncio.get_running_loop()
    leaving = threading.Timer(LAST_SECONDS, os._exit, (0,))
    leaving.daemon = True
    is_draining = False

    def hear(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_draining
        if is_draining and leaving.ident is None:
            leaving.start()
        is_draining = True
        loop.call_soon_threadsafe(signals.heard)

    before = {number: signal.signal(number, hear) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield signals
    finally:
        leaving.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
