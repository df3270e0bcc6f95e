"""A second process that ends our servers and programs when we die without having done so.

Nothing we do ourselves survives a kill -9. A child blocked on a pipe from us does: the pipe closes with our death.
"""

import os
import signal
import subprocess
import sys
from enum import IntEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from officeplane.embedded import watchdog_child


class Stage(IntEnum):
    """The order of ending."""

    PROGRAMS = watchdog_child.PROGRAMS
    SERVERS = watchdog_child.SERVERS


class Watchdog:
    """Tells the watching process what to end; `inherits` are descriptors that it keeps open as long as it lives."""

    def __init__(self, *, inherits: tuple[int, ...] = ()) -> None:
        self._inherits = inherits
        self._told: dict[int, str] = {}
        self._process = self._spawn()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _close(self._process)

    @property
    def pid(self) -> int:
        return self._process.pid

    def guard(self, pid: int, stage: Stage, first_signal: signal.Signals = signal.SIGTERM) -> None:
        """Have the process ended, in its stage, if we die."""
        self._told[pid] = f"guard {pid} {int(first_signal)} {int(stage)}\n"
        self._tell(self._told[pid])

    def release(self, pid: int) -> None:
        """Forget a process that has ended."""
        if self._told.pop(pid, None) is not None:
            self._tell(f"release {pid}\n")

    def ensure(self) -> None:
        """Put another one in its place if it was killed."""
        if self._process.poll() is not None:
            _close(self._process)
            self._process = self._spawn()
            self._write("".join(self._told.values()))

    def _tell(self, line: str) -> None:
        if self._process.poll() is None:
            self._write(line)
        else:
            self.ensure()

    def _write(self, text: str) -> None:
        pipe = self._process.stdin
        if pipe is not None and text:
            try:
                os.write(pipe.fileno(), text.encode())
            except BrokenPipeError:
                self._process.wait()
                self.ensure()

    def _spawn(self) -> subprocess.Popen[bytes]:
        # In a session of its own: Ctrl-C goes to the whole group of a terminal and must not reach it.
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(watchdog_child.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=self._inherits,
            start_new_session=True,
            cwd="/",
            # It needs none of our secrets, and cannot hide them.
            env={},
        )


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    process.wait()
