"""redis-py's connections, with its habits switched off.

Only its connections and pool are used. Its client repeats commands behind the
caller's back, which loses the ids of a BRPOP whose reply went missing, and arms
a timer for each reply of a pipeline, which costs four times the CPU of one
deadline around all of them.
"""

from typing import Any, Final, Protocol, TypeAlias, cast

from redis.asyncio.connection import ConnectionPool, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError

Reply: TypeAlias = "str | int | ResponseError | list[Reply] | None"

_UNBOUNDED: Final = 2**31


class Line(Protocol):
    """What is used of a connection; redis-py leaves most of it unannotated."""

    async def connect(self) -> None: ...
    async def send_packed_command(self, command: bytes, check_health: bool = True) -> None: ...
    async def read_response(
        self, disable_decoding: bool = False, timeout: float | None = None, *, disconnect_on_error: bool = True
    ) -> Reply: ...
    async def disconnect(self, nowait: bool = False) -> None: ...


class Pool(Protocol):
    """What is used of a pool. A connection that the server closed meanwhile is dialled anew by `get_connection`."""

    async def get_connection(self) -> Line: ...
    async def release(self, connection: Line) -> None: ...
    async def aclose(self) -> None: ...
    def make_connection(self) -> Line: ...


def open_pool(url: str, client_name: str) -> Pool:
    """Return a pool without a connection yet; a URL that is none raises `ValueError`."""
    # Ours win over what the URL asks for: `?socket_timeout=` or `?retry_on_timeout=`
    # would bring the traps back. Deadlines are set around whole round trips.
    # The pool takes its own arguments and the connection's in one bag, hence Any.
    options: dict[str, Any] = {
        **parse_url(url),
        "client_name": client_name,
        "protocol": 2,  # lists come as lists, and nothing is pushed between replies
        "decode_responses": True,
        "encoding_errors": "replace",  # foreign bytes on a list are garbage to drop, not an exception
        "socket_timeout": None,
        "socket_connect_timeout": None,
        "retry": Retry(NoBackoff(), 0),
        "retry_on_timeout": False,
        "retry_on_error": [],
        "health_check_interval": 0,
        "max_connections": _UNBOUNDED,  # at its bound the pool would raise; `Link` waits
    }
    if not url.startswith("unix:"):
        options["socket_keepalive"] = True
    # The protocols above are the types that the library's methods have and do not declare.
    return cast("Pool", ConnectionPool(**options))
