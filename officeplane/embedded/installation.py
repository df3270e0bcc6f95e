"""What an installation's data folder remembers between runs: its passwords and ports, and who uses it now."""

import asyncio
import fcntl
import json
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from officeplane.embedded.errors import EmbeddedError
from officeplane.embedded.ports import free_port, is_free
from officeplane.embedded.private_file import write_private
from officeplane.embedded.processes import is_alive

_DYING_SECONDS = 0.5  # a process that was just killed still looks alive for a moment
_TAKEOVER_SECONDS = 30.0


def _new_password() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True)
class Installation:
    """The remembered facts; a port of 0 is not chosen yet."""

    postgres_password: str = field(default_factory=_new_password, repr=False)
    valkey_password: str = field(default_factory=_new_password, repr=False)
    app_password: str = field(default_factory=_new_password, repr=False)
    postgres_port: int = 0
    valkey_port: int = 0


def remembered_installation(data_dir: Path, *, postgres_port: int | None, valkey_port: int | None) -> Installation:
    """The folder's installation, with the ports asked for, else those of last time, else free ones."""
    path = data_dir / "installation.json"
    remembered = _read(path)
    known = _understood(remembered, path)
    settled = replace(
        known,
        postgres_port=_settle_port(postgres_port, known.postgres_port),
        valkey_port=_settle_port(valkey_port, known.valkey_port),
    )
    if asdict(settled) != remembered:
        write_private(path, json.dumps(asdict(settled), indent=2))
    return settled


@asynccontextmanager
async def sole_use(data_dir: Path) -> AsyncGenerator[int]:
    """Hold the folder's lock and give its descriptor; refuse while another living process has it.

    The watchdog inherits the descriptor. After a kill -9 the lock therefore stays until everything that the
    dead process had started is gone, and its successor waits for that.
    """
    descriptor = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        await _take(descriptor, data_dir)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def is_in_use(data_dir: Path) -> bool:
    """Tell whether anybody has the folder's lock."""
    try:
        descriptor = os.open(data_dir / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


async def _take(descriptor: int, data_dir: Path) -> None:
    started = asyncio.get_running_loop().time()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode().strip()
            held = holder.isdigit() and is_alive(int(holder))
            patience = _DYING_SECONDS if held else _TAKEOVER_SECONDS
            if asyncio.get_running_loop().time() - started > patience:
                message = f"{data_dir} is in use by another officeplane (process {holder or 'unknown'}): stop it first"
                raise EmbeddedError(message) from None
            await asyncio.sleep(0.05)
        else:
            return


def _settle_port(wanted: int | None, remembered: int) -> int:
    if wanted is not None:
        return wanted
    # A port of last time that a server of ours still holds looks taken here; the new one serves as well.
    return remembered if remembered and is_free(remembered) else free_port()


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise _unreadable(path) from error


def _understood(facts: object, path: Path) -> Installation:
    """Return the facts; what a former version did not know yet is chosen now."""
    try:
        return TypeAdapter(Installation).validate_python(facts)
    except ValidationError as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> EmbeddedError:
    message = f"{path} cannot be understood: restore it, or move the whole folder away to start anew"
    return EmbeddedError(message)
