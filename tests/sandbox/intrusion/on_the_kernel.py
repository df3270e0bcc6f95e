"""What an intruder would like to ask of the kernel: no defect matters in what is never reached."""

import ctypes
import mmap
import os
import signal
from collections.abc import Iterator
from functools import partial

from tests.sandbox.intrusion.targets import Attempt, Targets, by_clone, by_name, by_number

_NAMESPACES = {
    "user": 0x10000000,
    "mount": 0x00020000,
    "network": 0x40000000,
    "PID": 0x20000000,
    "IPC": 0x08000000,
    "time": 0x00000080,
    "control group": 0x02000000,
}
_ADD_KEY, _REQUEST_KEY, _KEYCTL = (248, 217), (249, 218), (250, 219)
_BPF, _PERF, _USERFAULTFD, _QUEUE = (321, 280), (298, 241), (323, 282), (240, 180)
_IO_URING_SETUP, _IO_URING_ENTER, _LANDLOCK, _MEMFD_SECRET, _MOUNT_API = 425, 426, 444, 447, 430
_SECCOMP, _LOAD_MODULE, _LOAD_KERNEL = (317, 277), (313, 273), (320, 294)


def on_the_kernel(targets: Targets) -> Iterator[Attempt]:
    """Give what he tries to have of it."""
    for name, flag in _NAMESPACES.items():
        yield f"have a {name} namespace", partial(by_name, "unshare", flag)
    yield "enter a namespace", partial(by_name, "setns", 0, 0)
    yield "have a child in a namespace", partial(by_clone, _NAMESPACES["user"] | signal.SIGCHLD)
    yield "have a ring for calls", partial(by_number, _IO_URING_SETUP, 4, bytes(120))
    yield "use a ring for calls", partial(by_number, _IO_URING_ENTER, 0, 1, 0, 0, None, 0)
    yield "keep a key", partial(by_number, _ADD_KEY, b"user", b"x", b"y", 1, -2)
    yield "ask for a key", partial(by_number, _REQUEST_KEY, b"user", b"x", None, -2)
    yield "read the keys of the session", partial(by_number, _KEYCTL, 0, -3, 0)
    yield "load a program into the kernel", partial(by_number, _BPF, 0, bytes(72), 72)
    yield "load a module", partial(by_number, _LOAD_MODULE, 0, b"", 0)
    yield "load another kernel", partial(by_number, _LOAD_KERNEL, 0, 0, 0, b"", 0)
    yield "count what the processor does", partial(by_number, _PERF, bytes(120), 0, -1, -1, 0)
    yield "handle the faults of its memory", partial(by_number, _USERFAULTFD, 0)
    yield "have a filter of its own", partial(by_number, _SECCOMP, 1, 0, bytes(16))
    yield "have rules of its own", partial(by_number, _LANDLOCK, None, 0, 1)
    yield "have a file system", partial(by_number, _MOUNT_API, b"tmpfs", 0)
    yield (
        "have a queue for messages",
        partial(by_number, _QUEUE, targets.folder[1:].encode(), os.O_CREAT | os.O_RDWR, 0o600, None),
    )
    yield "share memory", partial(by_name, "shmget", 0, 4096, 0o1600)
    yield "share messages", partial(by_name, "msgget", 0, 0o1600)
    yield "share a semaphore", partial(by_name, "semget", 0, 1, 0o1600)
    yield "type into a terminal", partial(by_name, "ioctl", 0, 0x5412, b"x")
    yield "be another kind of program", partial(by_name, "personality", 0x0400000)
    yield "read the log of the kernel", partial(by_name, "klogctl", 3, ctypes.create_string_buffer(64), 64)


def on_memory(_targets: Targets) -> Iterator[Attempt]:
    """Give what he tries to run code of his own."""
    yield "have memory to write and run", partial(mmap.mmap, -1, mmap.PAGESIZE, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)
    yield "have memory to read and run", partial(mmap.mmap, -1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    yield "make memory runnable", _make_runnable
    yield "make memory runnable by another call", partial(by_number, (329, 288), 0, 4096, 4, -1)
    yield "have memory that the kernel cannot see", partial(by_number, _MEMFD_SECRET, 0)
    yield "run what it has put into memory", _run_what_is_in_memory
    yield "lock memory", partial(by_name, "mlockall", 1)


def _make_runnable() -> None:
    page = mmap.mmap(-1, mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    by_name("mprotect", address, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC)


def _run_what_is_in_memory() -> None:
    program = os.memfd_create("x")
    os.execve(program, ["x"], {})  # noqa: S606 - it is to be refused
