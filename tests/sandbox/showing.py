"""A nursery whose children show themselves instead of opening documents: `python -m tests.sandbox.showing FD`."""

import os
import socket
import stat
import sys
from collections.abc import Iterator

from officeplane.frames import receive, send
from officeplane.sandbox import nursery, resource_limits


def show(connection: socket.socket) -> None:
    """Answer one request with what there is of environment and descriptors, besides the connection."""
    receive(connection)
    descriptors = [kind for number in range(resource_limits.DESCRIPTORS) for kind in _kind(number, connection.fileno())]
    # What Python itself put there, for want of a language.
    environ = {name: value for name, value in os.environ.items() if name != "LC_CTYPE"}
    send(connection, {"environ": environ, "descriptors": descriptors})


def _kind(number: int, connection: int) -> Iterator[str]:
    try:
        found = os.fstat(number)
    except OSError:
        return
    if number == connection:
        assert stat.S_ISSOCK(found.st_mode)
    elif stat.S_ISCHR(found.st_mode):
        yield "character"
    else:
        yield "own sizes" if os.pread(number, 100, 0).split()[1].isdigit() else "file"


if __name__ == "__main__":
    nursery.main(int(sys.argv[1]), show)
