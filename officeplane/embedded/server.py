"""One embedded server as a process: started, stopped, killed and started again on the same port and data."""

import asyncio
import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from officeplane.embedded.errors import EmbeddedError
from officeplane.embedded.ports import is_free
from officeplane.embedded.processes import living_in, send
from officeplane.embedded.watchdog import Stage, Watchdog

_START_SECONDS = 120.0  # recovery after a crash replays the log first
_STOP_SECONDS = 15.0
_PAUSE_SECONDS = 0.01
_LOG_BYTES = 1_000_000
_KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class ServerProcess(ABC):
    """The life of a server; what is particular to one kind of server is in the methods below."""

    name: str
    program_names: frozenset[str]
    stop_signal: signal.Signals = signal.SIGTERM

    def __init__(self, folder: Path, port: int, watchdog: Watchdog) -> None:
        self.folder = folder
        self.port = port
        self._watchdog = watchdog
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def spawn(self, log: int) -> subprocess.Popen[bytes]:
        """Start the program with the folder as its working directory, writing to that descriptor."""

    @abstractmethod
    async def is_ready(self) -> bool:
        """Whether it takes connections."""

    def main_pid(self) -> int | None:
        """The pid in the server's own records, which may be out of date."""
        return None

    def clear_traces(self) -> None:  # noqa: B027  (most servers leave nothing)
        """Remove what a dead server left and a new one would stumble over."""

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        if self._process is None or not self.running:
            message = f"{self.name} is not running"
            raise EmbeddedError(message)
        return self._process.pid

    @property
    def log(self) -> Path:
        return self.folder.with_suffix(".log")

    async def start(self) -> None:
        """Start it and wait until it takes connections."""
        if self.running:
            return
        self._forget()
        await self._end_orphans()
        self.clear_traces()
        if not is_free(self.port):
            message = f"port {self.port} for {self.name} is in use by another program"
            raise EmbeddedError(message)
        log = _open_log(self.log)
        try:
            start_of_run = os.fstat(log).st_size
            self._process = self.spawn(log)
        except OSError as error:
            message = f"{self.name} cannot be run: {error}"
            raise EmbeddedError(message) from error
        finally:
            os.close(log)
        self._watchdog.guard(self._process.pid, Stage.SERVERS, self.stop_signal)
        await self._until_ready(start_of_run)

    async def stop(self) -> None:
        """End it in good order; if it does not end, by force."""
        if self._process is not None and self.running:
            self._process.send_signal(self.stop_signal)
            if not await _until(lambda: not self.running, _STOP_SECONDS):
                await self.kill()
        self._forget()

    async def kill(self) -> None:
        """End it at once, as a crash would (kill -9)."""
        if self._process is not None and self.running:
            self._process.kill()
            await _until(lambda: not self.running, _STOP_SECONDS)
        self._forget()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    def _forget(self) -> None:
        if self._process is not None and not self.running:
            self._watchdog.release(self._process.pid)
            self._process = None

    async def _end_orphans(self) -> None:
        """End a server of this folder that outlived those who started it, children of a dead one included."""
        orphans = living_in(self.folder, self.program_names)
        if not orphans:
            return
        main = self.main_pid()
        for pid in [main] if main in orphans else orphans:
            send(pid, self.stop_signal)
        if await _until(lambda: not living_in(self.folder, self.program_names), _STOP_SECONDS):
            return
        for pid in living_in(self.folder, self.program_names):
            send(pid, signal.SIGKILL)
        if not await _until(lambda: not living_in(self.folder, self.program_names), _STOP_SECONDS):
            message = f"a {self.name} of an earlier run still uses {self.folder} and does not end"
            raise EmbeddedError(message)

    async def _until_ready(self, start_of_run: int) -> None:
        deadline = asyncio.get_running_loop().time() + _START_SECONDS
        while not await self.is_ready():
            if not self.running:
                self._forget()
                message = f"{self.name} did not start: {_last_words(self.log, start_of_run)} (see {self.log})"
                raise EmbeddedError(message)
            if asyncio.get_running_loop().time() > deadline:
                await self.kill()
                message = f"{self.name} did not take connections within {_START_SECONDS:.0f} s (see {self.log})"
                raise EmbeddedError(message)
            await asyncio.sleep(_PAUSE_SECONDS)


def server_environment() -> dict[str, str]:
    """What a server needs of our environment: not our secrets, and no settings meant for clients."""
    return {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | {"LC_ALL": "C", "TZ": "UTC"}


async def _until(fact: Callable[[], bool], seconds: float) -> bool:
    deadline = asyncio.get_running_loop().time() + seconds
    while not fact():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(_PAUSE_SECONDS)
    return True


def _open_log(path: Path) -> int:
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _last_words(log: Path, start: int) -> str:
    said = log.read_bytes()[start:].decode(errors="replace").splitlines()
    telling = [line for line in said if any(word in line for word in ("FATAL", "ERROR", "PANIC", "rror:", "Fatal"))]
    words = (telling or said or ["it ended without a word"])[-1]
    return words.strip()
