"""Sections: the chapters of a presentation, kept by PowerPoint as a list beside that of the slides."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lxml import etree

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.marks import extension_list
from officeplane.formats.powerpoint.names import SECTIONS, attribute_number, p, p14, under
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.xml import Element

_URI: Final = "{521415D9-36F7-43E2-AB2F-B90AF26B5E84}"
_DEFAULT: Final = "Default Section"


@dataclass(frozen=True, slots=True)
class Section:
    """One section with the slides that are in it."""

    id: str
    name: str
    entry: Element
    slides: list[Slide]


class Sections:
    """The sections in order; most presentations have none."""

    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        self._main = main

    def all(self, slides: Sequence[Slide]) -> list[Section]:
        """Return the sections; a slide that none lists is in that of the slide before it."""
        sections = [
            Section(_node_id(entry), entry.get("name", ""), entry, [])
            for entry in self._package.tree(self._main).iterfind(f"{_LIST}/{p14('section')}")
        ]
        if not sections:
            return []
        by_number = {
            attribute_number(listed, "id", 0): section
            for section in sections
            for listed in section.entry.iterfind(f"{p14('sldIdLst')}/{p14('sldId')}")
        }
        current = sections[0]
        for slide in slides:
            current = by_number.get(slide.number, current)
            current.slides.append(slide)
        return sections

    def add(self, name: str, position: int | None, seed: str, slides: Sequence[Slide]) -> str:
        """Add an empty section; slides that were in none get one of their own, as in PowerPoint."""
        entries = self._entries()
        if len(entries) == 0 and slides:
            _list(_section(entries, _DEFAULT, f"{seed}/default"), slides)
        made = _section(entries, name, seed)
        sections = entries.findall(p14("section"))
        if position is not None and position < len(sections) - 1:
            sections[position].addprevious(made)
        self._package.changed(self._main)
        return _node_id(made)

    def rename(self, section: Section, name: str) -> None:
        """Give a section another name."""
        section.entry.set("name", name)
        self._package.changed(self._main)

    def enter(self, section: Section, slide: Slide, order: Sequence[Slide]) -> None:
        """List a slide in a section, after those that are before it in the presentation."""
        self.leave(slide)
        listed = section.entry.find(p14("sldIdLst"))
        if listed is None:
            listed = etree.Element(p14("sldIdLst"))
            section.entry.insert(0, listed)
        places = {other.number: place for place, other in enumerate(order)}
        own = places[slide.number]
        before = [e for e in listed if places.get(attribute_number(e, "id", 0), len(order)) < own]
        entry = etree.Element(p14("sldId"), id=str(slide.number))
        listed.insert(listed.index(before[-1]) + 1 if before else 0, entry)
        self._package.changed(self._main)

    def leave(self, slide: Slide) -> None:
        """Take a slide out of the section that lists it."""
        path = f"{_LIST}/{p14('section')}/{p14('sldIdLst')}/{p14('sldId')}"
        for listed in self._package.tree(self._main).findall(path):
            parent = listed.getparent()
            if parent is not None and attribute_number(listed, "id", 0) == slide.number:
                parent.remove(listed)
                self._package.changed(self._main)

    def _entries(self) -> Element:
        root = self._package.tree(self._main)
        found = root.find(_LIST)
        if found is None:
            extension = under(extension_list(root), p("ext"), uri=_URI)
            found = etree.SubElement(extension, p14("sectionLst"), nsmap={"p14": SECTIONS})
        return found


_LIST: Final = f"{p('extLst')}/{p('ext')}/{p14('sectionLst')}"


def _section(entries: Element, name: str, seed: str) -> Element:
    taken = {entry.get("id", "").upper() for entry in entries}
    guid = _guid(seed)
    while guid in taken:
        guid = _guid(guid)
    made = under(entries, p14("section"), name=name, id=guid)
    under(made, p14("sldIdLst"))
    return made


def _guid(seed: str) -> str:
    return f"{{{uuid.UUID(bytes=hashlib.sha256(seed.encode()).digest()[:16], version=5)}}}".upper()


def _list(section: Element, slides: Sequence[Slide]) -> None:
    (listed,) = section
    for slide in slides:
        under(listed, p14("sldId"), id=str(slide.number))


def _node_id(entry: Element) -> str:
    return f"chapter-{entry.get('id', '').strip('{}').lower()}"
