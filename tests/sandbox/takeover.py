"""A child that somebody has taken over: `python -m tests.sandbox.takeover FOLDER AS`, run by its test.

The program is the owner, with a secret in its environment, as a worker is. It has a
nursery bear a child, and that one runs what is below instead of opening documents. What
came of each attempt, and what the child says and shows of itself, is printed as JSON.

AS is `here`, or how else the owner is to live: `contained` as in a container (another
user, and no namespaces to be had), `old` on a kernel that has neither Landlock nor seccomp.
Where the child is not held by both, only files are tried.
"""

import ctypes
import errno
import json
import mmap
import os
import resource
import socket
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from officeplane.frames import receive, send
from officeplane.sandbox import kernel, nursery, seccomp
from officeplane.sandbox.confinement import FULL, offered
from officeplane.sandbox.nursery_protocol import BIRTH, NUMBER

NOBODY: Final = 65534
SECRET: Final = "the-password"
DONE: Final = "done"
_NEW_USER, _NEW_NETWORK, _NEW_MOUNTS = 0x10000000, 0x40000000, 0x00020000
_NAMESPACES: Final = 0x7E020000
_ATTACH: Final = 16
_SET_OWNER: Final = 8
_NO_NEW_PRIVILEGES: Final = 38
_UNSHARE, _SETNS, _CLONE, _SECCOMP, _ADD_KEY, _BPF, _PERF, _QUEUE = {
    "x86_64": (272, 308, 56, 317, 248, 321, 298, 240),
    "aarch64": (97, 268, 220, 277, 217, 280, 241, 180),
}[os.uname().machine]
_IO_URING, _PIDFD_OPEN, _CLONE3, _OPENAT2, _LANDLOCK = 425, 434, 435, 437, 444

Attempt = Callable[[], object]

_libc = ctypes.CDLL(None, use_errno=True)


def main(folder: Path, living: str) -> None:
    """Own a nursery, have a child born and print what it did."""
    secret, inner = folder / "installation.json", folder / "inner"
    secret.write_text(SECRET)
    inner.mkdir()
    owner, owned = socket.socketpair()
    ours, theirs = socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(folder / "socket"))
        local.listen()
        _live(folder, living)
        # As `serve` and `worker` begin.
        kernel.hide_memory()
        targets = {"owner": os.getpid(), "port": server.getsockname()[1], "folder": str(folder)}
        nursery_pid = os.fork()
        if not nursery_pid:
            # It is to have what it would have as a program of its own.
            for one in (owner, ours, theirs, server, local):
                one.close()
            # Where nothing holds it, it could do harm to the machine of the tests.
            trying = partial(attempts, **targets) if offered() >= FULL else partial(on_files, str(folder))
            nursery.main(owned.fileno(), partial(intrude, trying=trying))
            os._exit(0)
        owned.close()
        socket.send_fds(owner, [BIRTH], [theirs.fileno()])
        theirs.close()
        (child,) = NUMBER.unpack(owner.recv(NUMBER.size))
        layers = receive(ours).body["layers"]
        status = Path(f"/proc/{child}/status").read_text()
        group = os.getpgid(child)
        send(ours, {})
        told = receive(ours).body
        owner.close()
        os.waitpid(nursery_pid, 0)
    shown = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    print(json.dumps({"layers": layers, "status": shown, "leads": group == child, **told}))  # noqa: T201


def intrude(connection: socket.socket, trying: Callable[[], Iterator[tuple[str, Attempt]]]) -> None:
    """Try all this, once asked to, and tell what came of it."""
    receive(connection)
    came_of_it: dict[str, str] = {}
    for name, attempt in trying():
        try:
            attempt()
            came_of_it[name] = DONE
        except OSError as error:
            came_of_it[name] = errno.errorcode.get(error.errno or 0, str(error))
        except ValueError as error:
            # What the standard library makes of a limit that cannot be raised.
            came_of_it[name] = str(error)
    send(connection, {"attempts": came_of_it, "descriptors": _descriptors(connection.fileno())})
    receive(connection)


def attempts(owner: int, port: int, folder: str) -> Iterator[tuple[str, Attempt]]:
    """Give what an intruder would like to do, by what it is."""
    yield from on_files(folder)
    yield from _on_the_kernel(folder)
    yield from _on_memory()
    yield from _on_others(port, folder)
    for whose, pid in (("owner", owner), ("nursery", os.getppid())):
        for what, attempt in _on_a_process(pid):
            yield f"{what} of the {whose}", attempt
    yield "signal everybody", partial(os.kill, -1, 0)


def on_files(folder: str) -> Iterator[tuple[str, Attempt]]:
    """Give what he would like to do to files."""
    secret, aside = f"{folder}/installation.json", f"{folder}/aside"
    yield "read a secret file", partial(os.open, secret, os.O_RDONLY)
    yield "read it by another call", partial(_call, _OPENAT2, -100, secret.encode(), bytes(24), 24)
    yield "list the data folder", partial(os.listdir, folder)
    yield "list the processes", partial(os.listdir, "/proc")
    yield "read the passwords of the system", partial(os.open, "/etc/passwd", os.O_RDONLY)
    for way in ("O_WRONLY", "O_RDWR", "O_TRUNC"):
        yield f"open a secret file with {way}", partial(os.open, secret, getattr(os, way))
    yield "make a file", partial(os.open, aside, os.O_CREAT)
    yield "make a file without a name", partial(os.open, folder, os.O_TMPFILE | os.O_RDWR)
    yield "empty a file", partial(os.truncate, secret, 0)
    yield "unlink a file", partial(os.unlink, secret)
    yield "remove a folder", partial(os.rmdir, f"{folder}/inner")
    yield "rename a file", partial(os.rename, secret, aside)
    yield "make a folder", partial(os.mkdir, aside)
    yield "make a symbolic link", partial(os.symlink, "/", aside)
    yield "make a hard link", partial(os.link, secret, aside)
    yield "make a pipe with a name", partial(os.mkfifo, aside)
    yield "let others read a file", partial(os.chmod, secret, 0o644)
    yield "give a file away", partial(os.chown, secret, os.getuid(), os.getgid())
    yield "change the times of a file", partial(os.utime, secret)
    yield "change an attribute of a file", partial(os.setxattr, secret, "user.x", b"1")
    yield "watch files", partial(_raw, "inotify_init1", 0)
    yield "leave the root", partial(os.chroot, folder)
    yield "go elsewhere", partial(os.chdir, folder)
    yield "mount", partial(_raw, "mount", b"none", folder.encode(), b"tmpfs", 0, None)


def _on_the_kernel(folder: str) -> Iterator[tuple[str, Attempt]]:
    yield "become another", partial(os.setuid, NOBODY + 1)
    yield "take back capabilities", partial(_raw, "capset", (0x20080522).to_bytes(4, "little") + bytes(4), b"\xff" * 24)
    yield "have namespaces", partial(_raw, "unshare", _NEW_USER | _NEW_NETWORK)
    yield "have mounts", partial(_raw, "unshare", _NEW_MOUNTS)
    yield "have a ring for calls", partial(_call, _IO_URING, 4, bytes(120))
    yield "keep a key", partial(_call, _ADD_KEY, b"user", b"x", b"y", 1, -2)
    yield "load a program into the kernel", partial(_call, _BPF, 0, bytes(72), 72)
    yield "count what the processor does", partial(_call, _PERF, bytes(120), 0, -1, -1, 0)
    yield "type into a terminal", partial(_raw, "ioctl", 0, 0x5412, b"x")
    yield "have a queue for messages", partial(_call, _QUEUE, folder[1:].encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
    yield "share memory", partial(_raw, "shmget", 0, 4096, 0o1600)
    yield "lead a session", os.setsid
    yield "leave its group", partial(os.setpgid, 0, os.getppid())
    yield "fork", _fork
    yield "fork by another call", partial(_call, _CLONE3, bytes(88), 88)
    yield "run a program", partial(os.execv, "/bin/true", ["true"])


def _on_memory() -> Iterator[tuple[str, Attempt]]:
    yield "have memory to write and run", partial(mmap.mmap, -1, mmap.PAGESIZE, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)
    yield "make memory runnable", _make_runnable
    yield "have a file in memory", partial(os.memfd_create, "x")
    yield "have more memory", partial(resource.setrlimit, resource.RLIMIT_AS, (1 << 40, 1 << 40))


def _on_others(port: int, folder: str) -> Iterator[tuple[str, Attempt]]:
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET):
        yield f"have a socket ({family.name})", partial(socket.socket, family, socket.SOCK_DGRAM)
    yield "connect to the API", lambda: socket.socket().connect(("127.0.0.1", port))
    yield "connect to a socket in a folder", lambda: socket.socket(socket.AF_UNIX).connect(f"{folder}/socket")
    yield "have a pair of sockets", socket.socketpair
    yield "receive descriptors", partial(_raw, "recvmsg", 3, bytes(56), 0x40)


def _on_a_process(pid: int) -> Iterator[tuple[str, Attempt]]:
    for what in ("environ", "mem", "maps", "cmdline", "status"):
        yield f"open {what}", partial(os.open, f"/proc/{pid}/{what}", os.O_RDONLY)
    yield "list the descriptors", partial(os.listdir, f"/proc/{pid}/fd")
    mine = ctypes.create_string_buffer(8)
    words = struct.pack("@PN", ctypes.addressof(mine), len(mine))
    yield "read the memory", partial(_raw, "process_vm_readv", pid, words, 1, words, 1, 0)
    yield "be the tracer", partial(_raw, "ptrace", _ATTACH, pid, None, None)
    yield "be the signaller", partial(os.kill, pid, 0)
    yield "be the signaller, with words,", partial(_raw, "sigqueue", pid, 0, 0)
    yield "have signals sent to it, as owner", partial(_raw, "fcntl", 0, _SET_OWNER, pid)
    yield "be the holder", partial(_call, _PIDFD_OPEN, pid, 0)
    yield "bound the descriptors", partial(resource.prlimit, pid, resource.RLIMIT_NOFILE, (16, 16))
    yield "lower the priority", partial(os.setpriority, os.PRIO_PROCESS, pid, 19)


def _live(folder: Path, living: str) -> None:
    if living == "contained":
        if not os.geteuid():
            for path in (folder, *folder.iterdir()):
                os.chown(path, NOBODY, NOBODY)
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
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
    if living == "old":
        live_on_an_old_kernel()


def live_on_an_old_kernel() -> None:
    """Have this process find neither Landlock nor seccomp, whatever the kernel has."""
    missing = seccomp.refusal(errno.ENOSYS)
    _filter(seccomp.answer(_LANDLOCK, missing) + seccomp.answer(_SECCOMP, missing))


def _filter(program: list[seccomp.Instruction]) -> None:
    if seccomp.is_available():
        kernel.prctl(_NO_NEW_PRIVILEGES, 1)
        seccomp.install(program, otherwise=seccomp.ALLOW)


def _descriptors(connection: int) -> list[str]:
    """Return what is open besides the connection."""
    found: list[str] = []
    for number in range(resource.getrlimit(resource.RLIMIT_NOFILE)[0]):
        with suppress(OSError):
            if number != connection:
                found.append(stat.filemode(os.fstat(number).st_mode))
    return found


def _call(number: int, *arguments: object) -> None:
    _raw("syscall", number, *arguments)


def _raw(name: str, *arguments: object) -> None:
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    if getattr(_libc, name)(*given) == -1:
        raise OSError(ctypes.get_errno(), name)


def _fork() -> None:
    if not os.fork():
        os._exit(0)


def _make_runnable() -> None:
    page = mmap.mmap(-1, mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    _raw("mprotect", address, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
