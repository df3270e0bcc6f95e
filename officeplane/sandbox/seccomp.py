"""Seccomp: the few system calls that a child needs, and an error for all others.

A filter is a program for the kernel's little machine: it looks at the number of a
call and at its arguments, as numbers, and says what becomes of it.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import struct
from typing import Final, NamedTuple

from officeplane.sandbox.kernel import call

ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_ERROR: Final = 0x00050000
_SET_FILTER, _IS_AVAILABLE = 1, 2
_LOAD, _EQUAL, ABOVE, ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT, _ARGUMENT_SIZE = 0, 4, 16, 8

Instruction = tuple[int, int, int, int]
"""What to do, how many instructions to leave out if so, and if not, and with which number."""


class _Machine(NamedTuple):
    """A kind of processor: in which column below its calls are, how the kernel names it, and its call for all this."""

    column: int
    name: int
    seccomp: int


_MACHINES: Final = {"x86_64": _Machine(0, 0xC000003E, 317), "aarch64": _Machine(1, 0xC00000B7, 277)}

_ALLOWED: Final[dict[str, tuple[int | None, int | None]]] = {
    # On its socket, and on files that it may open for reading.
    "recvfrom": (45, 207),
    "sendto": (44, 206),
    "read": (0, 63),
    "write": (1, 64),
    "poll": (7, None),
    "ppoll": (271, 73),
    "shutdown": (48, 210),
    "close": (3, 57),
    "lseek": (8, 62),
    "pread64": (17, 67),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    # Its memory, its threads' locks, its signals and its end.
    "brk": (12, 214),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "futex": (202, 98),
    "sched_yield": (24, 124),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "exit": (60, 93),
    "exit_group": (231, 94),
    # The time, chance, and who and where it is.
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getrandom": (318, 278),
    "sysinfo": (99, 179),
    "uname": (63, 160),
    "sched_getaffinity": (204, 123),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
}
_OPENAT, _MMAP, _MPROTECT, _FCNTL, _PRLIMIT = (257, 56), (9, 222), (10, 226), (72, 25), (302, 261)
_IOCTL, _CLONE3 = (16, 29), (435, 435)
# The last is what makes O_TMPFILE of O_DIRECTORY.
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | 0o20000000
_EXECUTING: Final = mmap.PROT_EXEC


def is_available() -> bool:
    """Tell whether the kernel can filter, and we know how it names this processor and its calls."""
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return False
    try:
        call(machine.seccomp, _IS_AVAILABLE, 0, struct.pack("=I", _ERROR))
    except OSError:
        return False
    return True


def restrict() -> None:
    """Leave this process the calls above and no others; it must have given up gaining privileges."""
    column = _MACHINES[platform.machine()].column
    program: list[Instruction] = []
    for numbers in _ALLOWED.values():
        number = numbers[column]
        if number is not None:
            program += answer(number, ALLOW)
    for numbers, argument, test, against, error in (
        (_OPENAT, 2, ANY_BIT, _WRITING, errno.EACCES),
        (_MMAP, 2, ANY_BIT, _EXECUTING, errno.EACCES),
        (_MPROTECT, 2, ANY_BIT, _EXECUTING, errno.EACCES),
        # The commands above this one give descriptors owners, signals and locks.
        (_FCNTL, 1, ABOVE, fcntl.F_SETFL, errno.EPERM),
        # Limits of another process; its own it can only lower.
        (_PRLIMIT, 0, ABOVE, 0, errno.EPERM),
    ):
        program += answer_if(numbers[column], argument, test, against, error)
    # Libraries ask whether a file is a terminal, and go the older way to start a thread.
    program += answer(_IOCTL[column], refusal(errno.ENOTTY)) + answer(_CLONE3[column], refusal(errno.ENOSYS))
    install(program, otherwise=refusal(errno.EPERM))


def install(program: list[Instruction], *, otherwise: int) -> None:
    """Have every further call of this process judged by a program, and what it says nothing about answered so."""
    machine = _MACHINES[platform.machine()]
    whole = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_EQUAL, 1, 0, machine.name),
        # Under another processor's numbers it would be another call.
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        *program,
        (_RETURN, 0, 0, otherwise),
    ]
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in whole)
    kept = ctypes.create_string_buffer(code, len(code))
    call(machine.seccomp, _SET_FILTER, 0, struct.pack("@HP", len(whole), ctypes.addressof(kept)))


def answer(number: int, verdict: int) -> list[Instruction]:
    """Return what judges one call, whatever its arguments are."""
    return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, verdict)]


def refusal(error: int) -> int:
    """Return the verdict that makes a call fail with an error."""
    return _ERROR | error


def answer_unless(number: int, argument: int, bits: int, error: int) -> list[Instruction]:
    """Return what refuses one call unless one of these bits is set in an argument."""
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _ARGUMENTS_AT + argument * _ARGUMENT_SIZE),
        (ANY_BIT, 1, 0, bits),
        (_RETURN, 0, 0, refusal(error)),
        (_RETURN, 0, 0, ALLOW),
    ]


def answer_if(number: int, argument: int, test: int, against: int, error: int) -> list[Instruction]:
    """Return what refuses one call if an argument is found wrong, and allows it otherwise."""
    return [
        (_EQUAL, 0, 4, number),
        # The lower half: what these take is an `int`, or has no meaning above.
        (_LOAD, 0, 0, _ARGUMENTS_AT + argument * _ARGUMENT_SIZE),
        (test, 0, 1, against),
        (_RETURN, 0, 0, refusal(error)),
        (_RETURN, 0, 0, ALLOW),
    ]
