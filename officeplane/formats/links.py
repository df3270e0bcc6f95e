"""Links: addresses outside the file that a text may lead to, kept as relationships of the part that names them."""

from collections.abc import Set as AbstractSet
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships

_KIND: Final = "hyperlink"
_SCHEMES: Final = frozenset(("http", "https", "mailto"))
_AS_THEY_ARE: Final = "!#$%&'()*+,/:;=?@[]~-._"
_LENGTH_MAX: Final = 2_000


class Links:
    """Where the texts of one part lead outside, looked up once: there may be thousands."""

    def __init__(self, package: Package, part: str) -> None:
        self._arrows = Relationships(package, part)
        self._known: dict[str, str] | None = None

    def to(self, address: str) -> str | None:
        """Return the id of the relationship to an address, or None for one that no document should lead to."""
        target = _acceptable(address)
        if target is None:
            return None
        if self._known is None:
            listed = [arrow for arrow in self._arrows.of_type(_KIND) if arrow.is_external]
            self._known = {arrow.target: arrow.id for arrow in reversed(listed)}
        found = self._known.get(target)
        if found is None:
            found = self._known[target] = self._arrows.add(_KIND, target, is_external=True)
        return found

    def drop(self, relationship_ids: AbstractSet[str]) -> None:
        """Remove the links among relationships whose texts are gone."""
        self._arrows.remove(*(arrow.id for arrow in self._arrows.of_type(_KIND) if arrow.id in relationship_ids))
        self._known = None


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
