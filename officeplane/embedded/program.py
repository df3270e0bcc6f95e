"""Programs that run on the servers: started, restarted when they die, asked to drain, ended with us."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import structlog

from officeplane.embedded.errors import EmbeddedError
from officeplane.embedded.log_file import LogFile
from officeplane.embedded.server import ServerProcess
from officeplane.embedded.watchdog import Stage, Watchdog

_log = structlog.get_logger()

_LOOK_SECONDS = 0.1
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 15.0
_HEALTHY_AFTER_SECONDS = 30.0


class Program:
    """One child process in a session of its own, so that a terminal's Ctrl-C reaches it only through us."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], watchdog: Watchdog, log: LogFile
    ) -> None:
        self.name = name
        self.log = log
        self._command = list(command)
        self._environment = dict(environment)
        self._watchdog = watchdog
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def start(self) -> None:
        """Start it, again if it has ended."""
        self._forget()
        log = self.log.open()
        try:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        finally:
            os.close(log)
        self._watchdog.guard(self._process.pid, Stage.PROGRAMS)

    def ask_to_stop(self) -> None:
        if self._process is not None and self.running:
            self._process.send_signal(signal.SIGTERM)

    async def ended(self) -> None:
        while self.running:
            await asyncio.sleep(_LOOK_SECONDS)
        self._end_children()

    async def stop(self, patience_seconds: float) -> None:
        """Ask it to stop and wait; kill it when the patience is over."""
        self.ask_to_stop()
        try:
            async with asyncio.timeout(patience_seconds):
                await self.ended()
        except TimeoutError:
            if self._process is not None:
                self._process.kill()
            await self.ended()
        self._forget()

    def _end_children(self) -> None:
        # What a program that was killed leaves in its group are its sandboxes; they would go on without an owner.
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _forget(self) -> None:
        if self._process is not None and not self.running:
            self._watchdog.release(self._process.pid)
            self._process = None


async def keep_program(program: Program, bury: Callable[[int], Awaitable[None]] | None = None) -> None:
    """Start the program again whenever it ends, later each time if it ends at once.

    `bury` is told the process that has ended before the next one begins.
    """
    pause = _FIRST_PAUSE_SECONDS
    while True:
        started = time.monotonic()
        await program.ended()
        if time.monotonic() - started > _HEALTHY_AFTER_SECONDS:
            pause = _FIRST_PAUSE_SECONDS
        _log.warning("program.ended", program=program.name, exit_code=program.exit_code, starts_again_in=pause)
        if bury is not None and program.pid is not None:
            await bury(program.pid)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
        program.start()


async def keep_server(server: ServerProcess, watchdog: Watchdog) -> None:
    """Start the server again whenever it dies, and see that somebody watches over it."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        watchdog.ensure()
        if not server.running:
            _log.warning("server.died", server=server.name)
            try:
                await server.start()
                pause = _FIRST_PAUSE_SECONDS
            except EmbeddedError as error:
                _log.error("server.not_started", server=server.name, error=str(error), tried_again_in=pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
        await asyncio.sleep(_LOOK_SECONDS)
