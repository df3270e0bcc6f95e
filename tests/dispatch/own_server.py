"""A Valkey of a test's own, to kill, stop, fill and starve."""

import signal
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from officeplane.dispatch import Availability, Connection, Keyspace, RedisUnavailable
from officeplane.embedded.binaries import find_valkey
from tests.fault_proxy import reserved_port
from tests.support import eventually


class OwnServer:
    """One server on one port, through as many starts as the test wants."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._reserved = reserved_port()
        self.port: int = self._reserved.getsockname()[1]

    @property
    def url(self) -> str:
        """Where it is, or will be."""
        return f"redis://127.0.0.1:{self.port}/0"

    async def start(self) -> None:
        """Start it empty and return when it answers."""
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "save": "",
            "appendonly": "no",
            "dir": str(self._folder),
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        self._process = subprocess.Popen([find_valkey(), *arguments], stdout=subprocess.DEVNULL)
        await eventually(self._answers, what="the server's answer")

    def kill(self) -> None:
        """Kill it, and everything in it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Kill it for good, and give its port back."""
        self.kill()
        self._reserved.close()

    def freeze(self) -> None:
        """Stop it in its tracks: connections stay, nothing is answered."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def _answers(self) -> bool:
        connection = Connection(self.url, Keyspace("probe"), Availability())
        try:
            await connection.probe()
        except RedisUnavailable:
            return False
        finally:
            await connection.aclose()
        return True


@asynccontextmanager
async def own_server(folder: Path) -> AsyncGenerator[OwnServer, None]:
    """Give a server that has not been started; whatever runs at the end is killed."""
    server = OwnServer(folder)
    try:
        yield server
    finally:
        server.close()
