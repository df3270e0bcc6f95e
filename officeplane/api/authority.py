"""Whom a request means and where it comes from: `Host` and `Origin`, read so that nothing looks like what it is not.

A page of somebody else reaches a server on this machine in two ways. It can let a name of its own lead here (DNS
rebinding): then `Host` has that name, so only names that are ours are answered. Or it can send what a browser sends
without asking first: then `Origin` and `Sec-Fetch-Site` say where from, so what changes something has to come from our
own pages, or from no page at all.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final, NamedTuple

from officeplane.config import Settings

ANY: Final = "*"
OURS_IN_BROWSERS: Final = frozenset({b"same-origin", b"none"})
"""What browsers say in `Sec-Fetch-Site` of a request from our own page, and of one that a person typed."""

_AUTHORITY: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]{1,253}))(?::(\d{0,5}))?")
_PORTS: Final = {"http": 80, "https": 443}
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_REMEMBERED: Final = 256


class Authority(NamedTuple):
    """A host in its one spelling, and the port if one was named."""

    host: str
    port: int | None


class Origin(NamedTuple):
    """Where a page comes from."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        """Return it as browsers spell it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")


@lru_cache(_REMEMBERED)
def authority_of(value: bytes) -> Authority | None:
    """Return what a `Host` header names; None for what is none, look-alikes of other alphabets among it."""
    try:
        found = _AUTHORITY.fullmatch(value.decode("ascii").strip(" \t").lower())
    except UnicodeDecodeError:
        return None
    if found is None:
        return None
    address, name, port = found.groups()
    host = canonical(address or name)
    return None if host is None or (address and ":" not in address) else Authority(host, int(port) if port else None)


@lru_cache(_REMEMBERED)
def origin_of(value: bytes) -> Origin | None:
    """Return what an `Origin` header names; None for what has none, such as `null`."""
    scheme, _, rest = value.partition(b"://")
    port = _PORTS.get(scheme.decode("latin-1"))
    authority = authority_of(rest)
    if port is None or authority is None:
        return None
    return Origin(scheme.decode(), authority.host, authority.port or port)


def canonical(host: str) -> str | None:
    """Return the one spelling of a name or an address; None if it can be neither."""
    bare = host.lower().removeprefix("[").removesuffix("]").removesuffix(".")
    try:
        address = ip_address(bare)
    except ValueError:
        return bare if re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", bare) else None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


@lru_cache(_REMEMBERED)
def is_loopback(host: str) -> bool:
    """Tell whether a name or an address is that of this machine for itself."""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


@dataclass(frozen=True, slots=True)
class Names:
    """What this server is called, and whose pages may speak to it."""

    hosts: frozenset[str] = frozenset()
    """Its names and addresses, besides all of the loopback; `*` stands for whatever there is."""

    origins: frozenset[Origin] = frozenset()
    """Of other sites' pages."""

    hears_all_addresses: bool = False
    """Whether it listens on every address of the machine, which are names of it then."""

    def mean_us(self, host: str, arrived_at: str | None) -> bool:
        """Tell whether a host is this server, for a request that arrived at an address of ours."""
        if ANY in self.hosts or host in self.hosts or is_loopback(host):
            return True
        return self.hears_all_addresses and arrived_at is not None and host == canonical(arrived_at)

    def trust(self, origins: Iterable[bytes], sites: Iterable[bytes], authority: Authority | None) -> bool:
        """Tell whether what changes something may come from there; who sends no such headers is no browser."""
        found = [origin_of(value) for value in origins]
        if found and all(origin in self.origins for origin in found):
            return True
        return all(_is_at(origin, authority) for origin in found) and OURS_IN_BROWSERS.issuperset(sites)


def is_own_page(origins: Sequence[bytes], sites: Sequence[bytes], authority: Authority | None) -> bool:
    """Tell whether a browser says that a page of this very server sends a request; who says nothing is none."""
    is_said = bool(origins) or b"same-origin" in sites
    are_at_us = all(_is_at(origin_of(value), authority) for value in origins)
    return is_said and are_at_us and OURS_IN_BROWSERS.issuperset(sites)


def names_of(settings: Settings, machine: str) -> Names:
    """Return what the server of these settings is called on a machine of this name."""
    machine_names = (machine, machine.partition(".")[0])
    hosts = (*_LOOPBACK, *machine_names, settings.host, *settings.allowed_hosts)
    named = {ANY if host == ANY else canonical(host) for host in hosts}
    origins = {origin_of(origin.encode()) for origin in settings.allowed_origins}
    return Names(
        frozenset(host for host in named if host),
        frozenset(origin for origin in origins if origin),
        hears_all_addresses=settings.host in {"", "0.0.0.0", "::"},  # noqa: S104 - it is asked, not bound
    )


def _is_at(origin: Origin | None, authority: Authority | None) -> bool:
    if origin is None or authority is None:
        return False
    return origin.host == authority.host and origin.port == (authority.port or _PORTS[origin.scheme])
