"""Ports on the loopback address."""

import secrets
import socket

from officeplane.embedded.errors import EmbeddedError

# Below the ranges from which systems take the source ports of outgoing connections. In them, a client
# that retries while its server is down can connect to itself and so keep the server from coming back.
_LOWEST, _HIGHEST = 15_000, 32_000


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port nobody listens on, out of reach of outgoing connections."""
    for _ in range(200):
        port = _LOWEST + secrets.randbelow(_HIGHEST - _LOWEST)
        if is_free(port):
            return port
    message = f"no free port found between {_LOWEST} and {_HIGHEST} on 127.0.0.1"
    raise EmbeddedError(message)
