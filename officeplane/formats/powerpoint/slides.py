"""Slides: their list in the presentation's main part, and how each is numbered."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError, UnsupportedDocumentError
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.marks import last_slide_number, note_last_slide_number
from officeplane.formats.powerpoint.names import R_ID, SLIDE_TYPE, alone, attribute_number, p
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.xml import Element

_FIRST: Final = 256
_END: Final = 2_147_483_648
_BEFORE: Final = (p("handoutMasterIdLst"), p("notesMasterIdLst"), p("sldMasterIdLst"))


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide: its number in the presentation, its part, and its entry in the list."""

    number: int
    part: str
    entry: Element

    @property
    def id(self) -> str:
        """The id by which edits name it."""
        return f"slide-{self.number}"


class Slides:
    """The slides in order."""

    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        self._main = main
        self._listed: list[Slide] = []
        self._listed_of: Element | None = None

    def all(self) -> list[Slide]:
        """Return the slides in order."""
        root = self._package.tree(self._main)
        if self._listed_of is not root:
            self._listed = self._read(root)
            self._listed_of = root
        return self._listed

    def find(self, node_id: str) -> Slide:
        """Return the slide of an id; who names another thing is told."""
        for slide in self.all():
            if slide.id == node_id:
                return slide
        if node_id.startswith("chapter-"):
            raise InvalidEditError(f"{node_id!r} is a chapter, not a slide: give the id of a slide")
        raise InvalidEditError(f"there is no slide {node_id!r}: the outline lists the slides there are")

    def insert(self, part: str, at: int) -> Slide:
        """List a new slide before the one that is at a place; return it with its number."""
        root = self._package.tree(self._main)
        entry = alone(p("sldId"))
        number = self._next_number(root)
        entry.set("id", str(number))
        entry.set(R_ID, Relationships(self._package, self._main).add("slide", part))
        slide = Slide(number, part, entry)
        self._put(root, slide, at, self.all())
        return slide

    def move(self, slide: Slide, to: int) -> None:
        """Put a slide at a place among the others."""
        root = self._package.tree(self._main)
        others = [other for other in self.all() if other is not slide]
        self._list(root).remove(slide.entry)
        self._put(root, slide, to, others)

    def remove(self, slide: Slide) -> None:
        """Take a slide off the list; its number is not given again."""
        root = self._package.tree(self._main)
        if slide.number >= max(other.number for other in self.all()) > last_slide_number(root):
            note_last_slide_number(root, slide.number)
        self._listed = [other for other in self.all() if other is not slide]
        self._list(root).remove(slide.entry)
        self._package.changed(self._main)

    def new_part(self, content: bytes) -> str:
        """Add the part of a slide that is not listed yet."""
        folder = posixpath.join(posixpath.dirname(self._main), "slides")
        name = free_name(self._package, folder, "slide")
        self._package.put(name, content)
        declare(self._package, name, SLIDE_TYPE)
        return name

    def _put(self, root: Element, slide: Slide, at: int, others: Sequence[Slide]) -> None:
        entries = self._list(root)
        if at < len(others):
            others[at].entry.addprevious(slide.entry)
        else:
            entries.append(slide.entry)
        self._listed = [*others[:at], slide, *others[at:]]
        self._package.changed(self._main)

    def _read(self, root: Element) -> list[Slide]:
        parts = {arrow.id: arrow.target for arrow in Relationships(self._package, self._main) if not arrow.is_external}
        listed: list[Slide] = []
        for entry in root.iterfind(f"{p('sldIdLst')}/{p('sldId')}"):
            part = parts.get(entry.get(R_ID, ""), "")
            if part not in self._package:
                raise UnsupportedDocumentError(
                    "broken_package", f"the presentation lists a slide {part!r} it does not hold"
                )
            listed.append(Slide(attribute_number(entry, "id", 0), part, entry))
        return listed

    def _list(self, root: Element) -> Element:
        found = root.find(p("sldIdLst"))
        if found is not None:
            return found
        made = alone(p("sldIdLst"))
        for tag in _BEFORE:
            before = root.find(tag)
            if before is not None:
                before.addnext(made)
                return made
        root.insert(0, made)
        return made

    def _next_number(self, root: Element) -> int:
        taken = {slide.number for slide in self.all()}
        number = max(_FIRST - 1, last_slide_number(root), *taken, 0) + 1
        if number < _END:
            return number
        return next(free for free in range(_FIRST, _END) if free not in taken)


def free_name(package: Package, folder: str, stem: str, extension: str = "xml") -> str:
    """Return a name for a new part: the stem with the number after the highest in use."""
    name = rf"{re.escape(folder)}/(?:_rels/)?{re.escape(stem)}([0-9]{{1,9}})\.{re.escape(extension)}(?:\.rels)?"
    pattern = re.compile(name, re.IGNORECASE)
    numbers = [int(match[1]) for match in map(pattern.fullmatch, package.names) if match is not None]
    return f"{folder}/{stem}{max(numbers, default=0) + 1}.{extension}"
