"""The watchdog's own process: it waits until its parent is gone, however that happened, and ends what it was told of.

It is run as a file, without the rest of the package, so that it starts in a few milliseconds and holds nothing but
the standard library. It is told one line at a time on its standard input:

    guard PID SIGNAL STAGE      end this process in that stage, first with that signal
    release PID                 it ended, or is no longer ours

Stage by stage, so that the programs are gone before the servers they use.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass

# A second request makes a worker hand its tasks back at once; what then remains is killed.
_ASK_AGAIN_AFTER = 0.5
PROGRAMS, SERVERS = 1, 2
_PATIENCE_SECONDS = {PROGRAMS: 4.0, SERVERS: 15.0}


@dataclass(slots=True)
class Guarded:
    """One process, held by a descriptor where the system has them, so that a reused pid is never signalled."""

    pid: int
    first_signal: int
    stage: int
    handle: int | None

    def is_alive(self) -> bool:
        if self.handle is not None:
            return not select.select([self.handle], [], [], 0)[0]
        with suppress(PermissionError):
            try:
                os.kill(self.pid, 0)
            except ProcessLookupError:
                return False
        return True

    def send(self, signum: int) -> None:
        with suppress(OSError):
            if self.handle is not None and sys.platform == "linux":
                signal.pidfd_send_signal(self.handle, signum)
            else:
                os.kill(self.pid, signum)


def main() -> None:
    """Listen until the parent is gone, then end what is left."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    guarded = listen()
    for stage, patience in sorted(_PATIENCE_SECONDS.items()):
        end([one for one in guarded if one.stage == stage], patience)


def listen() -> list[Guarded]:
    """Keep the list until the pipe closes; a copy of its other end in some fork must not fool us."""
    guarded: dict[int, Guarded] = {}
    parent, unread = os.getppid(), b""
    while os.getppid() == parent:
        if not select.select([0], [], [], 1.0)[0]:
            continue
        received = os.read(0, 4096)
        if not received:
            break
        *lines, unread = (unread + received).split(b"\n")
        for line in lines:
            obey(line.decode().split(), guarded)
    return list(guarded.values())


def obey(words: list[str], guarded: dict[int, Guarded]) -> None:
    """Take one line of instructions."""
    match words:
        case ["guard", pid, first_signal, stage]:
            guarded[int(pid)] = Guarded(int(pid), int(first_signal), int(stage), handle_of(int(pid)))
        case ["release", pid]:
            gone = guarded.pop(int(pid), None)
            if gone is not None and gone.handle is not None:
                os.close(gone.handle)
        case _:
            pass


def handle_of(pid: int) -> int | None:
    """A descriptor of the process; None where the system or a sandbox has no such thing."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def end(guarded: list[Guarded], patience: float) -> None:
    """Ask, ask again, and kill what has not gone by then."""
    started, asked_again = time.monotonic(), False
    living = asked = [one for one in guarded if one.is_alive()]
    for one in asked:
        one.send(one.first_signal)
    while living:
        waited = time.monotonic() - started
        if waited > patience:
            for one in living:
                one.send(signal.SIGKILL)
        elif waited > _ASK_AGAIN_AFTER and not asked_again:
            asked_again = True
            for one in living:
                one.send(one.first_signal)
        if waited > patience + 5:
            return
        time.sleep(0.02)
        living = [one for one in living if one.is_alive()]
    for one in asked:
        end_children(one)


def end_children(ended: Guarded) -> None:
    """Kill what a program left in its own process group, if it led one: its sandboxes, when it was killed itself."""
    if ended.stage == PROGRAMS:
        with suppress(OSError):
            os.killpg(ended.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
