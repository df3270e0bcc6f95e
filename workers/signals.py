"""Signals set flags; the pool decides what they mean."""

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager


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
    """Listen for SIGTERM and SIGINT for as long as the block lasts."""
    signals = StopSignals()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signals.heard)
    try:
        yield signals
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
