"""The nursery: a process that has loaded everything once, and forks a confined child whenever it is asked.

`python -m officeplane.sandbox.nursery FD POLICY`: over that socket its owner asks for births and
ends; with a birth comes the descriptor that the child is to serve. The policy is what the children
let in. The nursery stays the parent of its children, so a process id cannot come to mean another
process while the owner may still ask for its end. When the owner is gone, so are the nursery and
all its children.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Final

from officeplane.domain.document import Policy
from officeplane.frames import send
from officeplane.sandbox import kernel, namespaces
from officeplane.sandbox.child import serve
from officeplane.sandbox.confinement import confine
from officeplane.sandbox.nursery_protocol import BIRTH, END, NUMBER
from officeplane.sandbox.rehearsal import rehearse

Work = Callable[[socket.socket], None]
"""What a child does with its socket, once it is confined."""

_MACHINE_CODE: Final = ("PIL._imaging", "PIL._imagingft", "re2")
"""Modules of machine code that a child may need: confined, it can import no such module any more."""


def main(descriptor: int, work: Work = serve) -> None:
    """Serve one owner until it is gone; its children do this work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.hide_memory()
    for name in _MACHINE_CODE:
        # Where a library works without one of them, so do we.
        with suppress(ImportError):
            import_module(name)
    with suppress(Exception):
        # A rehearsal only saves time: what fails here fails again in the child, which says so.
        rehearse()
    children: set[int] = set()
    # The owner may be gone with a request unread by us, or an answer unread by it.
    with suppress(ConnectionError):
        _obey(socket.socket(fileno=descriptor), children, work)
    for child in children:
        _end(child)


def _obey(owner: socket.socket, children: set[int], work: Work) -> None:
    while True:
        asked, descriptors, _, _ = socket.recv_fds(owner, 1 + NUMBER.size, 1)
        if asked[:1] == BIRTH:
            child = _born(owner, descriptors[0], work)
            children.add(child)
            owner.sendall(NUMBER.pack(child))
        elif asked[:1] == END:
            (child,) = NUMBER.unpack(asked[1:])
            # A process id that is not one of its children's may be anybody's.
            owner.sendall(NUMBER.pack(_end(child) if child in children else 0))
            children.discard(child)
        else:
            return


def _born(owner: socket.socket, descriptor: int, work: Work) -> int:
    nursery = os.getpid()
    child, has_namespaces = namespaces.fork()
    if child:
        os.close(descriptor)
        _lead_a_group(child)
        return child
    status = 1
    with suppress(BaseException):
        _lead_a_group(0)
        owner.close()
        # It inherits where the owner writes to, and must not write there.
        os.dup2(0, 1)
        os.dup2(0, 2)
        with socket.socket(fileno=descriptor) as connection:
            layers = confine(nursery, has_namespaces=has_namespaces)
            send(connection, {"layers": sorted(layers)})
            work(connection)
        status = 0
    os._exit(status)


def _lead_a_group(child: int) -> None:
    # Nursery and child both do this: the one must find the group to end it, what the other starts must be in it.
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
    main(int(sys.argv[1]), partial(serve, policy=Policy(sys.argv[2])))
