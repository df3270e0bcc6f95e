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
from contextlib import suppress

from officeplane.sandbox import limits
from officeplane.sandbox.child import serve
from officeplane.sandbox.letters import BIRTH, END, NUMBER


def main(descriptor: int) -> None:
    """Serve one owner until it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    children: set[int] = set()
    # It may be gone with a letter unread, or an answer.
    with suppress(ConnectionError):
        _obey(socket.socket(fileno=descriptor), children)
    for child in children:
        _end(child)


def _obey(owner: socket.socket, children: set[int]) -> None:
    while True:
        letter, descriptors, _, _ = socket.recv_fds(owner, 1 + NUMBER.size, 1)
        if letter[:1] == BIRTH:
            child = _born(owner, descriptors[0])
            children.add(child)
            owner.sendall(NUMBER.pack(child))
        elif letter[:1] == END:
            (child,) = NUMBER.unpack(letter[1:])
            # A number that is not its own may be anybody's.
            owner.sendall(NUMBER.pack(_end(child) if child in children else 0))
            children.discard(child)
        else:
            return


def _born(owner: socket.socket, descriptor: int) -> int:
    child = os.fork()
    if child:
        os.close(descriptor)
        return child
    status = 1
    with suppress(BaseException):
        owner.close()
        # What the owner writes to is none of its business.
        os.dup2(0, 1)
        os.dup2(0, 2)
        with socket.socket(fileno=descriptor) as connection:
            limits.confine()
            serve(connection)
        status = 0
    os._exit(status)


def _end(child: int) -> int:
    """Kill a child, unless it has died by itself, and return its wait status."""
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        return os.waitpid(child, 0)[1]
    return 0


if __name__ == "__main__":
    main(int(sys.argv[1]))
