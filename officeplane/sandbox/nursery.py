"""The nursery: a process that has loaded everything once, and forks a confined child whenever it is asked.

`python -m officeplane.sandbox.nursery FD`: over that socket come a letter and,
for a birth, the descriptor that the child is to serve. It stays the parent, so a
process id cannot come back to mean somebody else while its owner may still ask
for its end. When the owner is gone, so are the nursery and all its children.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Final

from officeplane.frames import send
from officeplane.sandbox import kernel
from officeplane.sandbox.child import serve
from officeplane.sandbox.confinement import confine
from officeplane.sandbox.nursery_protocol import BIRTH, END, NUMBER
from officeplane.sandbox.rehearsal import rehearse

Work = Callable[[socket.socket], None]
"""What a child does with its end of the line, once it is confined."""

_MACHINE_CODE: Final = ("PIL._imaging", "PIL._imagingft")
"""What a child may come to need of this kind: it can still read modules, but run no machine code that is not loaded."""


def main(descriptor: int, work: Work = serve) -> None:
    """Serve one owner until it is gone; its children do this work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.hide_memory()
    for name in _MACHINE_CODE:
        # What the library does without, we do.
        with suppress(ImportError):
            import_module(name)
    with suppress(Exception):
        # It only saves time: what cannot be done here is told by the child that has to do it.
        rehearse()
    children: set[int] = set()
    # It may be gone with a letter unread, or an answer.
    with suppress(ConnectionError):
        _obey(socket.socket(fileno=descriptor), children, work)
    for child in children:
        _end(child)


def _obey(owner: socket.socket, children: set[int], work: Work) -> None:
    while True:
        letter, descriptors, _, _ = socket.recv_fds(owner, 1 + NUMBER.size, 1)
        if letter[:1] == BIRTH:
            child = _born(owner, descriptors[0], work)
            children.add(child)
            owner.sendall(NUMBER.pack(child))
        elif letter[:1] == END:
            (child,) = NUMBER.unpack(letter[1:])
            # A number that is not its own may be anybody's.
            owner.sendall(NUMBER.pack(_end(child) if child in children else 0))
            children.discard(child)
        else:
            return


def _born(owner: socket.socket, descriptor: int, work: Work) -> int:
    nursery = os.getpid()
    child = os.fork()
    if child:
        os.close(descriptor)
        _lead_a_group(child)
        return child
    status = 1
    with suppress(BaseException):
        _lead_a_group(0)
        owner.close()
        # What the owner writes to is none of its business.
        os.dup2(0, 1)
        os.dup2(0, 2)
        with socket.socket(fileno=descriptor) as connection:
            held = confine()
            # It may have died before its death was anybody's concern.
            if os.getppid() == nursery:
                send(connection, {"held": sorted(held)})
                work(connection)
        status = 0
    os._exit(status)


def _lead_a_group(child: int) -> None:
    # Both do it: whoever ends it must find the group, and whatever it starts must be in it.
    with suppress(OSError):
        os.setpgid(child, child)


def _end(child: int) -> int:
    """Kill a child and whatever it has started, unless it has died by itself, and return its wait status."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        return os.waitpid(child, 0)[1]
    return 0


if __name__ == "__main__":
    main(int(sys.argv[1]))
