"""The embedded Valkey. It keeps a log of its writes, so that a restart does not wait for the sweeper."""

import asyncio
import subprocess
from contextlib import suppress
from pathlib import Path

from officeplane.embedded.private_file import write_private
from officeplane.embedded.server import ServerProcess, server_environment
from officeplane.embedded.watchdog import Watchdog

_ANSWER_SECONDS = 1.0


class ValkeyServer(ServerProcess):
    """A Valkey on the loopback address, behind a password."""

    name = "Valkey"
    program_names = frozenset({"valkey-server", "redis-server"})

    def __init__(
        self, folder: Path, port: int, watchdog: Watchdog, program: Path, password: str, *, durable: bool
    ) -> None:
        super().__init__(folder, port, watchdog)
        self._program = program
        self._password = password
        self._durable = durable

    def spawn(self, log: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(self._program), str(self._write_configuration())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=self.folder,
            env=server_environment(),
            start_new_session=True,
        )

    async def is_ready(self) -> bool:
        # By hand, because the client library is the doorbell's. It answers PING with an error while it loads its log.
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                try:
                    writer.write(f"AUTH {self._password}\r\nPING\r\n".encode())
                    return [await reader.readline(), await reader.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
                finally:
                    writer.close()
                    await writer.wait_closed()
        return False

    def _write_configuration(self) -> Path:
        # A file, not arguments: those can be read by every user of the machine.
        path = self.folder / "valkey.conf"
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            f"requirepass {self._password}",
            f"appendonly {'yes' if self._durable else 'no'}",
            'save ""',
            "maxmemory-policy noeviction",
            # The title would hide the path by which an orphan is known where there is no /proc.
            "set-proc-title no",
        ]
        write_private(path, "\n".join(lines) + "\n")
        return path


def prepare_valkey(
    data_dir: Path, port: int, password: str, watchdog: Watchdog, *, program: Path, durable: bool
) -> ValkeyServer:
    """A Valkey that can be started."""
    folder = data_dir / "valkey"
    folder.mkdir(mode=0o700, exist_ok=True)
    return ValkeyServer(folder, port, watchdog, program, password, durable=durable)
