"""The cookie that a session's token is in."""

from typing import Final

from starlette.requests import HTTPConnection
from starlette.responses import Response

from officeplane.api.authority import authority_of, is_loopback

NAME: Final = "officeplane_session"


def has_session(connection: HTTPConnection) -> bool:
    """Tell whether a request has such a cookie, good or not."""
    return bool(_values(connection))


def session_in(connection: HTTPConnection) -> str | None:
    """Return the token of a request; None if it has none, or two, of which one is somebody else's work."""
    values = _values(connection)
    return values[0] if len(values) == 1 else None


def give_session(connection: HTTPConnection, response: Response, token: str) -> None:
    """Let a browser come with this token from now on; beyond this machine over TLS only."""
    response.set_cookie(NAME, token, path="/", httponly=True, samesite="lax", secure=is_to_be_secure(connection))


def take_session(connection: HTTPConnection, response: Response) -> None:
    """Let a browser forget its token."""
    response.delete_cookie(NAME, path="/", httponly=True, samesite="lax", secure=is_to_be_secure(connection))


def is_to_be_secure(connection: HTTPConnection) -> bool:
    """Tell whether a request was meant for another name than this machine has for itself."""
    authority = authority_of(connection.headers.get("host", "").encode("latin-1"))
    return authority is None or not is_loopback(authority.host)


def _values(connection: HTTPConnection) -> list[str]:
    pairs = (
        pair.strip(" \t").partition("=")
        for name, value in connection.scope["headers"]
        if name == b"cookie"
        for pair in value.decode("latin-1").split(";")
    )
    return [value for name, _, value in pairs if name == NAME]
