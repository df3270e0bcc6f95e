"""Forks: processes of the product that start at once, because what they import is there already.

`python -m tests.forks` is a server: it imports the program and waits. For each order on
its standard input it forks itself, and the fork runs the command line as `officeplane`
would. A fork is a process like any other: it crashes, can be stopped, and leaves an exit
status. The server ends with its standard input, and its forks end with it.
"""

import asyncio
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import sys
import traceback
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

from officeplane import cli
from tests.support import eventually

ROOT: Final = Path(__file__).parents[1]


class Fork:
    """One process, and what it said."""

    def __init__(self, name: str, log: Path) -> None:
        self.name = name
        self.pid = 0
        self.status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._log = log

    def said(self, event: str) -> dict[str, Any] | None:
        """Return the first line of its log with this event, if there is one."""
        if not self._log.exists():
            return None
        for line in self._log.read_text(errors="replace").splitlines():
            if f'"{event}"' in line:
                with suppress(ValueError):
                    remark: dict[str, Any] = json.loads(line)
                    return remark
        return None

    async def says(self, event: str, *, within: float = 60) -> dict[str, Any]:
        """Return the first line of its log with this event as soon as it is there."""

        def heard() -> dict[str, Any] | None:
            has_ended = self.status.done()
            remark = self.said(event)
            if remark is None and has_ended:
                message = f"{self.name} ended with {self.status.result()}: {self.words[-2000:]}"
                raise RuntimeError(message)
            return remark

        return await eventually(heard, within=within, what=f"{event!r} of {self.name}")

    @property
    def words(self) -> str:
        """Everything that it has written."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    async def ended(self, *, within: float = 60) -> int:
        """Return its exit status once it has ended."""
        try:
            async with asyncio.timeout(within):
                return await asyncio.shield(self.status)
        except TimeoutError:
            message = f"{self.name} did not end within {within:g} s: {self.words[-2000:]}"
            raise AssertionError(message) from None

    @property
    def returncode(self) -> int | None:
        """Its exit status; None while it runs."""
        return self.status.result() if self.status.done() else None

    async def wait(self) -> int:
        """Return its exit status once it has ended, however long that takes."""
        return await asyncio.shield(self.status)

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it still runs."""
        if self.pid and not self.status.done():
            # It may have ended already without our having heard of that.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to stop."""
        self.send_signal(signal.SIGTERM)

    async def stop(self) -> int:
        """Ask it to stop and return its exit status."""
        self.send_signal(signal.SIGTERM)
        return await self.ended()


class Forks:
    """Has the server fork, and hears of it how the forks end."""

    def __init__(self, server: asyncio.subprocess.Process, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._ordered: list[Fork] = []
        self._pids: dict[int, asyncio.Future[int]] = {}

    async def start(self, *arguments: str, **environment: str) -> Fork:
        """Start `officeplane` with these arguments; settings are named without their prefix."""
        log = self._folder / f"{arguments[0]}-{len(self._ordered)}.log"
        return await self.begin(
            arguments, {f"OFFICEPLANE_{name}": value for name, value in environment.items()}, log, log
        )

    async def begin(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        out: Path,
        err: Path,
        stdin: Path = Path(os.devnull),
        *,
        program: str = "officeplane.cli.main",
    ) -> Fork:
        """Start `officeplane`, or what another module runs, in this process's environment and more, on these files."""
        number = len(self._ordered)
        fork = Fork(f"{arguments[0]}-{number}", out)
        self._ordered.append(fork)
        self._pids[number] = asyncio.get_running_loop().create_future()
        order = {
            "number": number,
            "program": program,
            "arguments": arguments,
            "files": [str(path) for path in (stdin, out, err)],
            "environment": {**os.environ, **environment},
        }
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(order).encode() + b"\n")
        await self._server.stdin.drain()
        fork.pid = await self._pids[number]
        return fork

    async def listen(self) -> None:
        """Hear which forks have begun and how they ended, until the server is gone."""
        assert self._server.stdout is not None
        by_pid: dict[int, Fork] = {}
        async for line in self._server.stdout:
            match json.loads(line):
                case {"number": int() as number, "pid": int() as pid}:
                    by_pid[pid] = self._ordered[number]
                    self._pids[number].set_result(pid)
                case {"pid": int() as pid, "status": int() as status}:
                    by_pid[pid].status.set_result(status)
                case other:
                    raise AssertionError(other)


@asynccontextmanager
async def forks(folder: Path) -> AsyncGenerator[Forks, None]:
    """Give a way to start processes quickly; at the end none of them is left."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.forks",
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    made = Forks(server, folder)
    listening = asyncio.create_task(made.listen())
    try:
        yield made
    finally:
        assert server.stdin is not None
        server.stdin.close()
        await listening
        await server.wait()


class _Server:
    """The process that is forked: it has one thread, no loop, and no random number drawn."""

    def __init__(self) -> None:
        self._children: set[int] = set()
        self._wakes, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def serve(self) -> None:
        """Fork for each order until standard input ends, then end all forks."""
        pending = b""
        while True:
            ready, _, _ = select.select([0, self._wakes], [], [])
            if self._wakes in ready:
                os.read(self._wakes, 4096)
                self._reap()
            if 0 in ready:
                received = os.read(0, 65536)
                if not received:
                    break
                *orders, pending = (pending + received).split(b"\n")
                for order in orders:
                    self._fork(json.loads(order))
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)
        while self._children:
            self._reap(wait=True)

    def _fork(self, order: Mapping[str, Any]) -> None:
        pid = os.fork()
        if not pid:
            _run_program(order)
        self._children.add(pid)
        _say({"number": order["number"], "pid": pid})

    def _reap(self, *, wait: bool = False) -> None:
        """Tell of the forks that have ended how they did; perhaps wait for one that has not."""
        while self._children:
            pid, status = os.waitpid(-1, 0 if wait else os.WNOHANG)
            if not pid:
                return
            self._children.discard(pid)
            with suppress(BrokenPipeError):
                _say({"pid": pid, "status": os.waitstatus_to_exitcode(status)})


def _wake(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the handler is there so that the signal is written to the pipe, which ends the wait for orders."""


def _say(message: Mapping[str, object]) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


def _run_program(order: Mapping[str, Any]) -> NoReturn:
    """Run the program in this fork as if it had just been started, and end with it."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for target, path in enumerate(order["files"]):
        source = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND if target else os.O_RDONLY, 0o600)
        os.dup2(source, target)
        os.close(source)
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["officeplane", *order["arguments"]]
    status = 1
    try:
        importlib.import_module(order["program"]).run()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
    except BaseException:  # noqa: BLE001 - nothing may get back into the server's loop
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


_IMPORTED: Final = ("uvloop", "officeplane.server", "tests.failpoints.handlers", "workers.pool")

if __name__ == "__main__":
    commands = [module.name for module in pkgutil.walk_packages(cli.__path__, f"{cli.__name__}.")]
    for name in (*_IMPORTED, *commands):
        importlib.import_module(name)
    # The collector would touch every object there is, and the forks would no longer share that memory.
    gc.freeze()
    _Server().serve()
