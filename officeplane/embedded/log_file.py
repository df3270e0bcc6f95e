"""The log of a program: a file that it writes to by itself, shown where its owner runs, and never large."""

import asyncio
import os
from pathlib import Path
from typing import Final, TextIO

import structlog

_log = structlog.get_logger()

LARGEST_BYTES: Final = 10_000_000
_LOOK_SECONDS: Final = 0.1
_SHOWN_AT_ONCE: Final = 1_000_000


class LogFile:
    """One program's log; what is too much of it is kept once more beside it, as `.1`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._shown = path.stat().st_size if path.exists() else 0

    def open(self) -> int:
        """Return a descriptor that a program may write to until it ends, also after the file was cut."""
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    async def keep_showing(self, screen: TextIO) -> None:
        """Show what is written, as it is written, until cancelled; nothing is lost by that."""
        while True:
            self.show(screen)
            await asyncio.sleep(_LOOK_SECONDS)

    def show(self, screen: TextIO) -> None:
        """Show what was written since the last time."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._shown)
            while new := file.read(_SHOWN_AT_ONCE):
                self._shown += len(new)
                screen.write(new.decode(errors="replace"))
        screen.flush()
        if self._shown > LARGEST_BYTES:
            self._cut()

    def _cut(self) -> None:
        # Who writes has the file open, so it is emptied rather than replaced; a line written in between is lost.
        try:
            self.path.with_suffix(".log.1").write_bytes(self.path.read_bytes())
        except OSError as error:
            # A full disk is no reason to end what is shown here, and what was shown takes room on it.
            _log.warning("log.not_kept", path=str(self.path), error=error.strerror)
        os.truncate(self.path, 0)
        self._shown = 0
