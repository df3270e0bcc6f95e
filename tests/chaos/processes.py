"""The processes of the product, as the nemesis meets them: kept running, killed, frozen, asked to leave."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from officeplane.embedded.watchdog import Stage, Watchdog

LOOK_SECONDS: Final = 0.05
RESTART_SECONDS: Final = 0.2
PATIENCE_SECONDS: Final = 8.0


@dataclass(frozen=True, slots=True)
class Death:
    """One process that ended: when, how, and whether we had told it to."""

    name: str
    pid: int
    at: float
    lived: float
    status: int
    wanted: bool


class ProductProcess:
    """One `officeplane` process and its successors, under one name."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Callable[[int], Mapping[str, str]],
        folder: Path,
        watchdog: Watchdog,
    ) -> None:
        self.name = name
        self.deaths: list[Death] = []
        self.pids: list[int] = []
        self.log = folder / f"{name}.log"
        self._command = list(command)
        self._environment = environment
        self._root = Path(__file__).parents[2]
        self._watchdog = watchdog
        self._process: subprocess.Popen[bytes] | None = None
        self._told_to_end = False
        self._started_at = 0.0

    @property
    def pid(self) -> int | None:
        """The pid of the process that runs now, if any."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def start(self) -> None:
        """Start it, or its successor."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._root,
                env={**os.environ, **self._environment(len(self.pids))},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._told_to_end = False
        self._started_at = time.time()
        self.pids.append(self._process.pid)
        self._watchdog.guard(self._process.pid, Stage.PROGRAMS, signal.SIGKILL)

    async def keep(self) -> None:
        """Start a successor whenever it ends, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._process is not None and self._process.poll() is not None:
                self._bury()
                await asyncio.sleep(RESTART_SECONDS)
                self.start()

    def kill(self) -> int | None:
        """End it at once; return the pid it had."""
        return self._send(signal.SIGKILL, ends=True)

    def ask_to_stop(self) -> int | None:
        """Ask it to drain and leave."""
        return self._send(signal.SIGTERM, ends=True)

    def freeze(self) -> int | None:
        """Stop it where it stands."""
        return self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._send(signal.SIGCONT)

    async def end(self) -> None:
        """End it for good: by asking, then by force."""
        self.thaw()
        self.ask_to_stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while self.pid is not None:
                    await asyncio.sleep(LOOK_SECONDS)
        self.kill()
        if self._process is not None:
            await asyncio.to_thread(self._process.wait)
            self._bury()

    def _send(self, number: signal.Signals, *, ends: bool = False) -> int | None:
        pid = self.pid
        if pid is not None and self._process is not None:
            self._told_to_end = self._told_to_end or ends
            self._process.send_signal(number)
        return pid

    def _bury(self) -> None:
        if self._process is None:
            return
        status = self._process.wait()
        now = time.time()
        lived = now - self._started_at
        self.deaths.append(Death(self.name, self._process.pid, now, lived, status, self._told_to_end))
        self._watchdog.release(self._process.pid)
        # Handlers' children leave by themselves when their worker is gone; what is left in its group does not.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process = None
