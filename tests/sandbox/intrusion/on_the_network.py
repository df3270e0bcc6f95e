"""Whom an intruder would like to speak to."""

import socket
from collections.abc import Iterator
from functools import partial

from tests.sandbox.intrusion.targets import Attempt, Targets, by_name

_METADATA = "169.254.169.254"


def on_the_network(targets: Targets) -> Iterator[Attempt]:
    """Give whom he tries to reach, and how."""
    for name, port in (("Postgres", targets.postgres), ("Redis", targets.redis), ("the API", targets.api)):
        yield f"connect to {name}", partial(_connect, "127.0.0.1", port)
    yield "connect to what tells machines in a cloud their secrets", partial(_connect, _METADATA, 80)
    yield "connect to a socket in a folder", partial(_connect_to_file, f"{targets.folder}/socket")
    for family in ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG"):
        yield f"have a socket of {family}", partial(socket.socket, getattr(socket, family), socket.SOCK_DGRAM)
    yield "have a pair of sockets", socket.socketpair
    own = targets.connection
    address = b"\x01\x00" + f"{targets.folder}/socket".encode()
    yield "turn its own socket to somebody else", partial(by_name, "connect", own, address, len(address))
    yield (
        "send to somebody else over its own socket",
        partial(by_name, "sendto", own, b"x", 1, 0, address, len(address)),
    )
    yield "be connected to", partial(by_name, "listen", own, 1)
    yield "be sent descriptors", partial(by_name, "recvmsg", own, bytes(56), 0x40)
    yield "send descriptors", partial(by_name, "sendmsg", own, bytes(56), 0)


def _connect(host: str, port: int) -> None:
    with socket.socket() as one:
        one.settimeout(5)
        one.connect((host, port))


def _connect_to_file(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
