"""What an intruder would like to do to other processes."""

import _thread
import ctypes
import os
import resource
import signal
import struct
from collections.abc import Iterator
from functools import partial

from tests.sandbox.intrusion.targets import Attempt, Targets, by_clone, by_name, by_number

_ATTACH, _SEIZE, _TRACE_ME = 16, 0x4206, 0
_SET_OWNER, _SET_SIGNAL = 8, 10
_PIDFD_SEND_SIGNAL, _PIDFD_OPEN, _PIDFD_GETFD, _PROCESS_MADVISE = 424, 434, 438, 440
_TGKILL, _SIGQUEUE_THREAD, _KCMP, _MOVE_PAGES = (234, 131), (297, 240), (312, 272), (279, 239)


def on_others(targets: Targets) -> Iterator[Attempt]:
    """Give what he tries with all processes that he may know of."""
    for whose in ("owner", "grandparent", "nursery", "sibling"):
        for what, attempt in on_a_process(getattr(targets, whose)):
            yield f"{what} of its {whose}", attempt
    yield "read another document where its sibling has it", partial(_read, targets.sibling, targets.document_at)
    yield "be the signaller of everybody", partial(os.kill, -1, 0)
    yield "be the signaller of its group", partial(os.kill, 0, 0)


def on_a_process(pid: int) -> Iterator[Attempt]:
    """Give what he tries with one of them."""
    for what in ("environ", "mem", "maps", "cmdline", "status"):
        yield f"open {what}", partial(os.open, f"/proc/{pid}/{what}", os.O_RDONLY)
    yield "list the descriptors", partial(os.listdir, f"/proc/{pid}/fd")
    yield "read the memory", partial(_read, pid, 0)
    yield "write the memory", partial(by_name, "process_vm_writev", pid, *_words(0))
    yield "move the memory", partial(by_number, _MOVE_PAGES, pid, 0, None, None, None, 0)
    yield "give advice on the memory", partial(by_number, _PROCESS_MADVISE, 0, None, 0, 20, 0)
    yield "be the tracer", partial(by_name, "ptrace", _ATTACH, pid, None, None)
    yield "be the quiet tracer", partial(by_name, "ptrace", _SEIZE, pid, None, None)
    yield "be the signaller", partial(os.kill, pid, 0)
    yield "be the signaller, with words,", partial(by_name, "sigqueue", pid, 0, 0)
    yield "be the signaller, by thread,", partial(by_number, _TGKILL, pid, pid, 0)
    yield "be the signaller, by thread and with words,", partial(by_number, _SIGQUEUE_THREAD, pid, pid, 0, bytes(128))
    yield "be the signaller, by a descriptor,", partial(by_number, _PIDFD_SEND_SIGNAL, 0, 0, None, 0)
    yield "have signals sent to it, as owner", partial(by_name, "fcntl", 0, _SET_OWNER, pid)
    yield "be the holder", partial(by_number, _PIDFD_OPEN, pid, 0)
    yield "take a descriptor", partial(by_number, _PIDFD_GETFD, 0, 0, 0)
    yield "compare itself with the insides", partial(by_number, _KCMP, os.getpid(), pid, 0, 0, 0)
    yield "bound the descriptors", partial(resource.prlimit, pid or 1, resource.RLIMIT_NOFILE, (16, 16))
    yield "lower the priority", partial(os.setpriority, os.PRIO_PROCESS, pid, 19)
    yield "choose the processors", partial(os.sched_setaffinity, pid, {0})
    yield "join the group", partial(os.setpgid, 0, pid)


def on_itself(_targets: Targets) -> Iterator[Attempt]:
    """Give what he tries to become more, or to be many."""
    yield "fork", _fork
    yield "fork without end", _fork_without_end
    yield "fork by another call", partial(by_number, 435, bytes(88), 88)
    yield "fork and wait", partial(by_clone, 0x4000 | signal.SIGCHLD)
    yield "have a thread", partial(_thread.start_new_thread, int, ())
    yield "run a program", partial(os.execv, "/bin/true", ["true"])
    yield "run a program by a descriptor", partial(by_number, (322, 281), 0, b"", None, None, 0x1000)
    yield "lead a session", os.setsid
    yield "leave its group", partial(os.setpgid, 0, 0)
    yield "become another", partial(os.setuid, 65535)
    yield "become a member", partial(os.setgroups, [0])
    yield "take back capabilities", partial(by_name, "capset", struct.pack("=Ii", 0x20080522, 0), b"\xff" * 24)
    yield "open its own memory to others", partial(by_name, "prctl", 4, 1, 0, 0, 0)
    yield "outlive its parent", partial(by_name, "prctl", 1, 0, 0, 0, 0)
    yield "be traced", partial(by_name, "ptrace", _TRACE_ME, 0, None, None)
    yield "have signals of its socket", partial(by_name, "fcntl", 0, _SET_SIGNAL, 9)
    yield "have more memory", partial(_raise, resource.RLIMIT_AS)
    yield "have larger files", partial(_raise, resource.RLIMIT_FSIZE)
    yield "have more processes", partial(_raise, resource.RLIMIT_NPROC)
    yield "have more descriptors", partial(_raise, resource.RLIMIT_NOFILE)
    yield "have more time", partial(_raise, resource.RLIMIT_CPU)
    yield "leave a dump", partial(_raise, resource.RLIMIT_CORE)


def _words(address: int) -> tuple[bytes, int, bytes, int, int]:
    mine = struct.pack("@PN", ctypes.addressof(_MINE), len(_MINE))
    return mine, 1, struct.pack("@PN", address or ctypes.addressof(_MINE), len(_MINE)), 1, 0


_MINE = ctypes.create_string_buffer(8)


def _read(pid: int, address: int) -> None:
    by_name("process_vm_readv", pid, *_words(address))


def _raise(kind: int) -> None:
    resource.setrlimit(kind, (1 << 40, 1 << 40))


def _fork() -> None:
    if not os.fork():
        os._exit(0)


def _fork_without_end() -> None:
    for _ in range(200):
        _fork()
