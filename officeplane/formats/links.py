"""Links: addresses outside the file that a text may lead to, kept as relationships of the part that names them."""

from typing import Final
from urllib.parse import quote, unquote, urlsplit

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships

_SCHEMES: Final = frozenset(("http", "https", "mailto"))
_AS_THEY_ARE: Final = "!#$%&'()*+,/:;=?@[]~-._"
_LENGTH_MAX: Final = 2_000


def link_to(package: Package, part: str, address: str) -> str | None:
    """Return the id of the relationship to an address, or None for one that no document should lead to."""
    target = _acceptable(address)
    if target is None:
        return None
    arrows = Relationships(package, part)
    for arrow in arrows.of_type("hyperlink"):
        if arrow.is_external and arrow.target == target:
            return arrow.id
    return arrows.add("hyperlink", target, is_external=True)


def _acceptable(address: str) -> str | None:
    target = quote(address.strip(), safe=_AS_THEY_ARE)
    try:
        parts = urlsplit(target)
        is_reachable = parts.scheme == "mailto" or bool(parts.hostname)
        _ = parts.port
    except ValueError:
        return None
    is_visible = not any(char < " " or char == "\x7f" for char in unquote(target))
    return target if parts.scheme in _SCHEMES and is_reachable and is_visible and len(target) <= _LENGTH_MAX else None
