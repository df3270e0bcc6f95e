"""Links: addresses outside the document, kept as relationships of the part that names them."""

from typing import Final
from urllib.parse import quote, urlsplit

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships

_SCHEMES: Final = frozenset(("http", "https", "mailto"))
_AS_THEY_ARE: Final = "!#$%&'()*+,/:;=?@[]~-._"
_LENGTH_MAX: Final = 2_000


def link_to(package: Package, part: str, address: str) -> str | None:
    """Return the id of the relationship to an address, or None for one that a document should not lead to."""
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
    return target if parts.scheme in _SCHEMES and is_reachable and len(target) <= _LENGTH_MAX else None
