"""The embedded Postgres: its cluster is made once, then found again."""

import asyncio
import subprocess
from pathlib import Path
from signal import SIGINT

from officeplane.embedded.account import Account, account_for
from officeplane.embedded.binaries import find_postgres
from officeplane.embedded.cluster import make_cluster, refuse_other_version
from officeplane.embedded.server import ServerProcess, server_environment
from officeplane.embedded.watchdog import Watchdog

# Dynamic shared memory in files: a container's /dev/shm is often too small for it.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "dynamic_shared_memory_type": "mmap",
    "password_encryption": "scram-sha-256",
    "jit": "off",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
_SETTINGS_FOR_DATA_NOT_KEPT = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class PostgresServer(ServerProcess):
    """A postmaster on the loopback address. SIGINT is its fast shutdown: clients are sent away, nothing is lost."""

    name = "Postgres"
    program_names = frozenset({"postgres"})
    stop_signal = SIGINT

    def __init__(self, folder: Path, port: int, watchdog: Watchdog, account: Account, *, durable: bool) -> None:
        super().__init__(folder, port, watchdog)
        self._account = account
        self._settings = _SETTINGS if durable else _SETTINGS | _SETTINGS_FOR_DATA_NOT_KEPT

    def spawn(self, log: int) -> subprocess.Popen[bytes]:
        # Not before: one of an earlier run, that was somebody else, may have had to end first.
        self._account.give(self.folder)
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        return subprocess.Popen(
            self._account.command(
                self._account.programs.server, "-D", str(self.folder), "-p", str(self.port), *settings
            ),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=self.folder,
            env=server_environment(),
            start_new_session=True,
            user=self._account.user,
            group=self._account.user,
            extra_groups=self._account.extra_groups,
        )

    async def is_ready(self) -> bool:
        # Its own word, in the eighth line; a connection would need a client library and a password.
        lines = self._pid_file()
        return self.running and lines[7:8] == ["ready"] and self.main_pid() == self.pid

    def main_pid(self) -> int | None:
        lines = self._pid_file()
        return int(lines[0]) if lines and lines[0].isdigit() else None

    def clear_traces(self) -> None:
        # Nothing of this folder lives any more. The file may still name a zombie, or a pid that has since been
        # given to another program; Postgres would take either for a running server and refuse to start.
        (self.folder / "postmaster.pid").unlink(missing_ok=True)

    def _pid_file(self) -> list[str]:
        try:
            return [line.strip() for line in (self.folder / "postmaster.pid").read_text().splitlines()]
        except FileNotFoundError:
            return []


async def prepare_postgres(
    data_dir: Path, port: int, password: str, watchdog: Watchdog, *, durable: bool
) -> PostgresServer:
    """A Postgres that can be started, its cluster made if this is the first time."""
    account = await asyncio.to_thread(account_for, find_postgres(), data_dir)
    major = await asyncio.to_thread(account.programs.major)
    folder = data_dir / "postgres"
    if folder.exists():
        refuse_other_version(folder, major)
    else:
        await make_cluster(folder, account, major, password, watchdog, durable=durable)
    return PostgresServer(folder, port, watchdog, account, durable=durable)
