"""The edge: what every request has to pass before anything looks at it, and what every answer says of itself."""

from collections.abc import MutableMapping
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from officeplane.api.answer_headers import ANSWERS_SAY
from officeplane.api.authority import Authority, Names, authority_of, is_loopback, is_own_page
from officeplane.api.problems import problem

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

PROBES: Final = "/api/health/"
"""Probes ask for an address that nobody can foresee; what they are told is no secret."""

IS_LOCAL: Final = "officeplane.is_local"
"""Where a request's scope says whether it comes from this machine, meant for a name of it, and nobody passed it on."""

IS_OWN_PAGE: Final = "officeplane.is_own_page"
"""Where it says whether a page of this server sends it, and a browser has said so."""

_SAID: Final = {name.encode(): value.encode() for name, value in ANSWERS_SAY.items()}
_SHOWN_OF_HOST: Final = 100
_OF_PROXIES: Final = (b"forwarded", b"x-forwarded", b"x-real-ip", b"via")


class Edge:
    """ASGI middleware, outside of all others."""

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse what is not meant for us or was not meant by whoever sends it; answer the rest."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._refusal(scope) or self._app
        if scope["method"] == "HEAD":
            # The server itself leaves the body out, and must go on seeing HEAD.
            await answer({**scope, "method": "GET"}, receive, _head_only(_explained(send)))
        else:
            await answer(scope, receive, _explained(send))

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        hosts: list[bytes] = []
        origins: list[bytes] = []
        sites: list[bytes] = []
        kept = {b"host": hosts, b"origin": origins, b"sec-fetch-site": sites}
        is_passed_on = False
        for name, value in scope["headers"]:
            if name in kept:
                kept[name].append(value)
            elif name.startswith(_OF_PROXIES):
                is_passed_on = True
        authority = authority_of(hosts[0]) if len(hosts) == 1 else None
        if not scope["path"].startswith(PROBES):
            arrived_at = (scope.get("server") or (None,))[0]
            if authority is None or not self._names.mean_us(authority.host, arrived_at):
                return _misdirected(hosts)
        is_ours = not (origins or sites) or self._names.trust(origins, sites, authority)
        if not is_ours and scope["method"] not in SAFE:
            return _cross_site(origins)
        scope[IS_OWN_PAGE] = bool(origins or sites) and is_own_page(origins, sites, authority)
        scope[IS_LOCAL] = is_ours and not is_passed_on and authority is not None and _is_local(scope, authority)
        return None


def _is_local(scope: Scope, authority: Authority) -> bool:
    client = scope.get("client")
    return client is not None and is_loopback(client[0]) and is_loopback(authority.host)


def _misdirected(hosts: list[bytes]) -> ASGIApp:
    if len(hosts) != 1:
        return problem("misdirected_request", f"A request has one Host header; this one has {len(hosts)}.")
    shown = hosts[0][:_SHOWN_OF_HOST].decode("ascii", "backslashreplace")
    return problem(
        "misdirected_request",
        f"This server is not known as {shown!r}. If that is a name of it, add the name to OFFICEPLANE_ALLOWED_HOSTS.",
    )


def _cross_site(origins: list[bytes]) -> ASGIApp:
    shown = origins[0][:_SHOWN_OF_HOST].decode("ascii", "backslashreplace") if origins else "another site"
    return problem(
        "cross_site",
        f"A page of {shown} may change nothing here. If it is yours, add its origin to OFFICEPLANE_ALLOWED_ORIGINS.",
    )


def _explained(send: Send) -> Send:
    """Add to an answer what it does not say itself."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = message.get("headers", ())
            said = dict(headers)
            if _SAID.keys().isdisjoint(said):
                message["headers"] = [*headers, *_SAID.items()]
            else:
                message["headers"] = [*headers, *(item for item in _SAID.items() if item[0] not in said)]
        await send(message)

    return sent


def _head_only(send: Send) -> Send:
    """End an answer where its body would begin, which also ends whatever would go on for long."""
    is_ended = False

    async def sent(message: MutableMapping[str, Any]) -> None:
        nonlocal is_ended
        if message["type"] == "http.response.start":
            await send(message)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            is_ended = True
        elif not is_ended:
            await send(message)

    return sent
