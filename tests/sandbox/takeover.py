"""A child that somebody has taken over: `python -m tests.sandbox.takeover FOLDER LIVING POSTGRES REDIS`.

The program is the owner, with secrets in its environment, its memory and its folder, as a
worker is. It has a nursery bear two children: a sibling, which has a document open, and one
that does what an intruder would instead of opening documents. What came of each attempt,
and what the child shows of itself, is printed as JSON.

LIVING is how the owner is to live: `here`, as it was started; `unprivileged`, as another
user than root; `contained`, as such a user with no namespaces to be had, as in most
containers; `old`, on a kernel that has neither Landlock nor seccomp; or `old, contained`.
Without the two, only files are tried: the rest could harm the machine of the tests.
"""

import ctypes
import errno
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from officeplane.frames import receive, send
from officeplane.sandbox import kernel, nursery, seccomp
from officeplane.sandbox.confinement import FULL, offered
from officeplane.sandbox.nursery_protocol import BIRTH, END, NUMBER
from tests.sandbox.intrusion.all_attempts import all_attempts
from tests.sandbox.intrusion.on_files import on_files
from tests.sandbox.intrusion.targets import Targets

NOBODY: Final = 65534
SECRET: Final = "the-password"
DONE: Final = "done"
ENDS_WITHIN_SECONDS: Final = 20.0
_NO_NEW_PRIVILEGES: Final = 38
_NAMESPACES: Final = 0x7E020000
_UNSHARE, _SETNS, _CLONE, _SECCOMP = {"x86_64": (272, 308, 56, 317), "aarch64": (97, 268, 220, 277)}[os.uname().machine]
_LANDLOCK: Final = 444


@dataclass(frozen=True, slots=True)
class Owned:
    """A child, as its owner has it."""

    pid: int
    layers: list[str]
    line: socket.socket

    def ask(self, role: str, **told: Any) -> dict[str, Any]:
        """Have it play a role and return what it says."""
        send(self.line, {"role": role, **told})
        return receive(self.line).body


def main(folder: Path, living: str, postgres: int, redis: int) -> None:
    """Own a nursery, have children born and print what became of it."""
    for name in ("installation.json", "admin.key"):
        (folder / name).write_text(SECRET)
    (folder / "inner").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(folder / "socket"))
        local.listen()
        _live(folder, living)
        # As every command begins.
        kernel.hide_memory()
        nursery_pid, owner = _nursery(server, local)
        sibling, intruder, ancestor = (_born(owner) for _ in range(3))
        targets = Targets(
            folder=str(folder),
            owner=os.getpid(),
            grandparent=os.getppid(),
            nursery=nursery_pid,
            sibling=sibling.pid,
            document_at=sibling.ask("sibling")["at"],
            api=server.getsockname()[1],
            postgres=postgres,
            redis=redis,
        )
        status = Path(f"/proc/{intruder.pid}/status").read_text()
        limits = Path(f"/proc/{intruder.pid}/limits").read_text()
        group = os.getpgid(intruder.pid)
        # Where nothing holds it, all else could do harm to the machine of the tests.
        told = intruder.ask("intruder", targets=asdict(targets), may_do_all=offered() >= FULL)
        told["sibling_says"] = sibling.ask("sibling")["says"]
        told["begotten"], told["descendant_has_ended"] = _descendant_of(owner, ancestor)
        owner.close()
        os.waitpid(nursery_pid, 0)
    shown = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    result = {"layers": intruder.layers, "status": shown, "limits": limits, "leads": group == intruder.pid, **told}
    print(json.dumps(result))  # noqa: T201


def play(connection: socket.socket) -> None:
    """Do what the owner asks for, until it is gone."""
    document = ctypes.create_string_buffer(b"of another")
    with suppress(ConnectionError):
        while True:
            asked = receive(connection).body
            match asked["role"]:
                case "sibling":
                    send(connection, {"at": ctypes.addressof(document), "says": document.value.decode()})
                case "ancestor":
                    send(connection, {"begotten": _beget()})
                case _:
                    targets = replace(Targets(**asked["targets"]), connection=connection.fileno())
                    trying = all_attempts(targets) if asked["may_do_all"] else on_files(targets)
                    send(connection, {"attempts": {name: _outcome(attempt) for name, attempt in trying}})


def live_on_an_old_kernel() -> None:
    """Have this process find neither Landlock nor seccomp, whatever the kernel has."""
    missing = seccomp.refusal(errno.ENOSYS)
    _filter(seccomp.answer(_LANDLOCK, missing) + seccomp.answer(_SECCOMP, missing))


def _live(folder: Path, living: str) -> None:
    if living in {"unprivileged", "contained", "old, contained"} and not os.geteuid():
        for path in (folder, *folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    if living in {"contained", "old, contained"}:
        _live_without_namespaces()
    if living in {"old", "old, contained"}:
        live_on_an_old_kernel()


def _live_without_namespaces() -> None:
    refused = seccomp.refusal(errno.EPERM)
    _filter(
        seccomp.answer(_UNSHARE, refused)
        + seccomp.answer(_SETNS, refused)
        + [
            (0x15, 0, 3, _CLONE),
            (0x20, 0, 0, 16),
            (0x45, 0, 1, _NAMESPACES),
            (0x06, 0, 0, refused),
            (0x20, 0, 0, 0),
        ]
    )


def _filter(program: list[seccomp.Instruction]) -> None:
    if seccomp.is_available():
        kernel.prctl(_NO_NEW_PRIVILEGES, 1)
        seccomp.install(program, otherwise=seccomp.ALLOW)


def _nursery(*others: socket.socket) -> tuple[int, socket.socket]:
    owner, owned = socket.socketpair()
    nursery_pid = os.fork()
    if not nursery_pid:
        # It is to have what it would have as a program of its own.
        for one in (owner, *others):
            one.close()
        nursery.main(owned.detach(), play)
        os._exit(0)
    owned.close()
    return nursery_pid, owner


def _born(owner: socket.socket) -> Owned:
    ours, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(owner, [BIRTH], [theirs.fileno()])
        (pid,) = NUMBER.unpack(owner.recv(NUMBER.size))
    return Owned(pid, receive(ours).body["layers"], ours)


def _outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    except (ValueError, RuntimeError) as error:
        # What the standard library makes of a limit that cannot be raised, and of a thread that cannot be started.
        return str(error)
    return DONE


def _beget() -> str:
    """Have a descendant that has left its ancestor's group, holds its line and ends for nothing that it can refuse."""
    try:
        child = os.fork()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    if not child:
        os.setsid()
        if not os.fork():
            signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
            while True:
                signal.sigwait({signal.SIGUSR1})
        os._exit(0)
    os.waitpid(child, 0)
    return DONE


def _descendant_of(owner: socket.socket, ancestor: Owned) -> tuple[str, bool]:
    """Return what came of a child's trying to have a descendant, and whether, once that child is ended, all are."""
    begotten = ancestor.ask("ancestor")["begotten"]
    owner.sendall(END + NUMBER.pack(ancestor.pid))
    owner.recv(NUMBER.size)
    ancestor.line.settimeout(ENDS_WITHIN_SECONDS)
    try:
        # Whoever is left holds the other end.
        return begotten, ancestor.line.recv(1) == b""
    except TimeoutError:
        return begotten, False


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
