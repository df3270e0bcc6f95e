"""The processes that are measured: `officeplane worker` and `officeplane serve`, as users start them."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from officeplane.bench import processor

READY_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.005
_TAIL: Final = 2_000


class Guard(Protocol):
    """Ends a process of ours should we die without having done so."""

    def guard(self, pid: int) -> None: ...
    def release(self, pid: int) -> None: ...


class ProgramEndedError(Exception):
    """A process that was to be measured ended by itself."""


class Program:
    """One running `officeplane` process."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def processor_seconds(self) -> float | None:
        """The processor time that it has used so far, if known."""
        return processor.seconds_of(self.pid)

    def check(self) -> None:
        """Raise if it has ended."""
        if self._process.poll() is not None:
            said = self._log.read_text(errors="replace")[-_TAIL:]
            raise ProgramEndedError(f"A process ended with exit code {self._process.returncode}:\n{said}")

    async def logged(self, event: str) -> dict[str, object]:
        """Return the first remark of this kind in its log, as soon as it is there."""
        async with asyncio.timeout(READY_SECONDS):
            while True:
                self.check()
                for line in self._log.read_text(errors="replace").splitlines(keepends=True):
                    if line.startswith("{") and line.endswith("\n"):
                        remark: dict[str, object] = json.loads(line)
                        if remark.get("event") == event:
                            return remark
                await asyncio.sleep(_LOOK_SECONDS)

    def kill(self) -> None:
        """End it at once: what it works on is thrown away, and there is nothing to drain."""
        self._process.kill()
        self._process.wait()


@contextmanager
def running(
    *arguments: str, count: int = 1, environment: Mapping[str, str], folder: Path, guard: Guard
) -> Generator[Sequence[Program], None, None]:
    """Run `officeplane` with these arguments, once or several times; all are gone at the end."""
    programs: list[Program] = []
    try:
        programs.extend(_start(arguments, environment, folder, guard) for _ in range(count))
        yield programs
    finally:
        for program in programs:
            program.kill()
            guard.release(program.pid)


def _start(arguments: Sequence[str], environment: Mapping[str, str], folder: Path, guard: Guard) -> Program:
    log = folder / f"{arguments[0]}-{len(list(folder.iterdir()))}.log"
    # The measured settings are the defaults, whatever the caller's shell has set.
    own = {name: value for name, value in os.environ.items() if not name.startswith("OFFICEPLANE_")}
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "officeplane.cli.main", *arguments],
            env={**own, **environment},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    guard.guard(process.pid)
    return Program(process, log)
