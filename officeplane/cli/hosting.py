"""The application on a port of this process, until a signal says stop.

The first signal stops listening and answers what was asked, the second one
leaves at once. Both ways the process ends by itself, with exit code 0.
"""

import asyncio
import logging
import math
import resource
import socket
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Final, cast

import structlog
import uvicorn
from fastapi import FastAPI

from officeplane.api.state import ServerState
from officeplane.cli.connections import USUAL, Connection, WireLimits
from officeplane.cli.exits import ExitCode, RefusedError
from officeplane.config import Settings

BACKLOG = 2048
TICKS_PER_SECOND: Final = 10
"""uvicorn's own."""

UNSENT_BYTES: Final = 128 * 1024
"""How much the kernel keeps of an answer beyond what is on its way."""

OTHER_FILES: Final = 256
FILES_PER_CONNECTION: Final = 2
"""The socket, and the spool of an upload."""

_log = structlog.stdlib.get_logger(__name__)


class DrainingServer(uvicorn.Server):
    """uvicorn's server, except that a signal ends it well instead of being raised again afterwards."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain at the first signal, leave at the second."""
        del sig, frame
        if self.should_exit:
            self.force_exit = True
            # What is cut off now was cut off on purpose: no traces of it.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Once a second, end connections that took too long."""
        if counter % TICKS_PER_SECOND == 0:
            for connection in tuple(self.server_state.connections):
                if isinstance(connection, Connection):
                    connection.grow_older(1.0)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what was asked; streams and long waits are told to end."""
        self._stopping.set()
        await super().shutdown(sockets)


def listen(settings: Settings) -> socket.socket:
    """Return a socket on the address of these settings, or say in a line why it cannot be had."""
    host, port = settings.host, settings.port
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family)
        # Connections of a predecessor that linger must not keep its port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # What a reader has not taken yet stays here, where it can be seen whether it takes any.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        raise RefusedError(f"Cannot listen on {host}:{port}: {error.strerror or error}") from None
    return listener


def host_server(app: FastAPI, settings: Settings, listener: socket.socket, limits: WireLimits = USUAL) -> ExitCode:
    """Serve on this socket until stopped."""
    state = app.state.server
    assert isinstance(state, ServerState)  # noqa: S101 - `app.state` is untyped
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        loop="uvloop",
        # uvicorn calls it as it would call a class.
        http=cast("type[asyncio.Protocol]", partial(Connection, _within_files(limits), {})),
        ws="none",
        # The caller is whoever is connected, whatever it says.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=math.ceil(settings.drain_seconds),
    )
    server = DrainingServer(config, state.stopping)
    _log.info("serve.listening", url=f"http://{_address(listener)}")
    server.run(sockets=[listener])
    return ExitCode.DONE if server.started else ExitCode.REFUSED


def _within_files(limits: WireLimits) -> WireLimits:
    """Allow this process the files that its connections need; where it may not have them, fewer connections."""
    wanted = limits.connections * FILES_PER_CONNECTION + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return replace(limits, connections=min(limits.connections, max(1, (files - OTHER_FILES) // FILES_PER_CONNECTION)))


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
