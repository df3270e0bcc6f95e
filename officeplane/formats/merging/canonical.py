"""Canonical forms: XML as text that is the same as long as nobody has changed what it means."""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, TypeAlias

from officeplane.formats.package import Package
from officeplane.formats.relationships import OFFICE, Relationships
from officeplane.formats.xml import Element

ReadAttribute: TypeAlias = Callable[[Element, str, str], str | None]
"""Returns what an attribute means, for it is no more than a number here; None if nothing."""

_BLANK: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Canonical:
    """Writes elements canonically; what is skipped means nothing, or is told elsewhere."""

    tags: Container[str] = frozenset[str]()
    attributes: Container[str] = frozenset[str]()
    read: ReadAttribute = field(default=lambda _element, _name, value: value)
    """Asked for the attributes that are not skipped."""
    keeps_blanks: Container[str] = frozenset[str]()
    """The elements whose text may be blank and means something."""
    otherwise: Mapping[str, Callable[[Element], str]] = field(default_factory=dict[str, Callable[[Element], str]])
    """What writes elements that are written in a way of their own."""

    def of(self, element: Element) -> str:
        """Return an element with all in it."""
        return "".join(self._pieces(element))

    def inside(self, element: Element | None) -> str:
        """Return what is in an element, in order; nothing if there is none."""
        return "" if element is None else "".join(self.of(one) for one in element if self._counts(one))

    def sorted_inside(self, element: Element | None) -> str:
        """Return what is in an element whose children may stand in any order."""
        return "" if element is None else "".join(sorted(self.of(one) for one in element if self._counts(one)))

    def _pieces(self, element: Element) -> Iterator[str]:
        tag = str(element.tag)
        if tag in self.otherwise:
            yield self.otherwise[tag](element)
            return
        yield f"<{tag}"
        for name, value in sorted(element.attrib.items()):
            said = None if str(name) in self.attributes else self.read(element, str(name), str(value))
            if said is not None:
                yield f" {name}={said!r}"
        yield ">"
        text = element.text or ""
        if text.strip(_BLANK) or tag in self.keeps_blanks:
            yield text
        for inner in element:
            if self._counts(inner):
                yield from self._pieces(inner)
            if inner.tail and inner.tail.strip(_BLANK):
                yield inner.tail
        yield "</>"

    def _counts(self, element: Element) -> bool:
        return isinstance(element.tag, str) and element.tag not in self.tags


class Arrows:
    """What the relationships of one part lead to, told by content: their ids and the names of parts are numbers."""

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        self.by_id = {arrow.id: arrow for arrow in Relationships(package, part)}
        self._told: dict[str, str] = {}

    def told(self, relationship_id: str) -> str:
        """Return what tells the end of an arrow from others."""
        if relationship_id not in self._told:
            self._told[relationship_id] = self._tell(relationship_id)
        return self._told[relationship_id]

    def _tell(self, relationship_id: str) -> str:
        arrow = self.by_id.get(relationship_id)
        if arrow is None:
            return ""
        if arrow.is_external:
            return f"{arrow.type} {arrow.target}"
        if arrow.target not in self._package:
            return arrow.type
        if arrow.target.endswith(".xml"):
            # Some programs write anew what they have not changed.
            held = Canonical().of(self._package.tree(arrow.target)).encode("utf-8", "surrogatepass")
        else:
            held = self._package.content(arrow.target)
        return f"{arrow.type} {sha256(held).hexdigest()}"


def is_relation(name: str) -> bool:
    """Tell whether an attribute names a relationship."""
    return name.startswith(f"{{{OFFICE}}}")
