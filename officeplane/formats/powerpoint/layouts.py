"""Layouts: which there are, by name, and which one fits."""

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.blocks import Block
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import R_ID, p
from officeplane.formats.powerpoint.picture_blocks import is_drawn
from officeplane.formats.powerpoint.placeholders import body, copied, kind, title
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

SECTION_HEADER: Final = "secHead"


class Purpose(Enum):
    """What a slide is made for; the types of layout that serve it, the best first."""

    CONTENT = ("obj", "tx", "objTx", "twoObj")
    TABLE = ("titleOnly", "obj", "tx")
    SECTION = (SECTION_HEADER, "title", "titleOnly", "obj")


# What the layouts are called in English: templates in other languages have the same types.
_ENGLISH: Final = {
    "title slide": "title",
    "title and content": "obj",
    "section header": SECTION_HEADER,
    "two content": "twoObj",
    "comparison": "twoTxTwoObj",
    "title only": "titleOnly",
    "blank": "blank",
    "content with caption": "objTx",
    "picture with caption": "picTx",
    "title and vertical text": "vertTx",
    "vertical title and text": "vertTitleAndTx",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """One layout of one master."""

    part: str
    master: str
    name: str
    """What it is called, in one line: some are called by several."""
    type: str
    root: Element


def layouts(package: Package, main: str) -> list[Layout]:
    """Return all layouts, master by master, in their order."""
    found: list[Layout] = []
    masters = package.tree(main).iterfind(f"{p('sldMasterIdLst')}/{p('sldMasterId')}")
    for master in _parts(package, main, masters, "slideMaster"):
        entries = package.tree(master).iterfind(f"{p('sldLayoutIdLst')}/{p('sldLayoutId')}")
        for part in _parts(package, master, entries, "slideLayout"):
            root = package.tree(part)
            content = root.find(p("cSld"))
            name = " ".join(("" if content is None else content.get("name", "")).split())
            found.append(Layout(part, master, name, root.get("type", ""), root))
    return found


def _parts(package: Package, of: str, entries: Iterable[Element], arrow_kind: str) -> Iterator[str]:
    arrows = Relationships(package, of).of_type(arrow_kind)
    by_id = {arrow.id: arrow.target for arrow in arrows}
    listed = [by_id[name] for entry in entries if (name := entry.get(R_ID, "")) in by_id]
    return (part for part in listed or by_id.values() if part in package)


def chosen(known: list[Layout], name: str | None, purpose: Purpose, master: str | None) -> Layout:
    """Return the layout of a name, or one that fits; that of the neighbour's master first."""
    known = sorted(known, key=lambda layout: layout.master != master)
    if not known:
        raise InvalidEditError("the presentation has no layouts, so no slide can be added to it")
    if name is None:
        return _fitting(known, purpose)
    wanted = _plain(name)
    for layout in known:
        if _plain(layout.name) == wanted:
            return layout
    for layout in known:
        if layout.type == _ENGLISH.get(wanted) or wanted == _part_name(layout):
            return layout
    names = ", ".join(repr(each) for each in dict.fromkeys(layout.name for layout in known))
    raise InvalidEditError(f"there is no layout {name!r}; there are {names}")


def chosen_for(known: list[Layout], name: str | None, own: Sequence[Element], master: str | None) -> Layout:
    """Return the layout of a name, or the one that has most of what placeholders of a slide are, and least besides."""
    if not known:
        raise InvalidEditError("the presentation has no layouts, so no slide can be added to it")
    known = sorted(known, key=lambda layout: layout.master != master)
    named = [layout for layout in known if name is not None and _plain(layout.name) == _plain(name)]
    wanted = Counter(kind(shape) for shape in own)

    def fits(layout: Layout) -> tuple[int, int]:
        there = Counter(kind(shape) for shape in copied(layout.root))
        return -(wanted & there).total(), (there - wanted).total()

    return min(named or known, key=fits)


def purpose_of(blocks: Sequence[Block]) -> Purpose:
    """Return what a slide is made for that has this content."""
    is_drawn_alone = bool(blocks) and all(is_drawn(block) for block in blocks)
    return Purpose.TABLE if is_drawn_alone else Purpose.CONTENT


def is_section_header(layout: Layout) -> bool:
    """Tell whether slides of this layout begin a section."""
    return layout.type == SECTION_HEADER or _ENGLISH.get(_plain(layout.name)) == SECTION_HEADER


def _fitting(known: list[Layout], purpose: Purpose) -> Layout:
    for wanted in purpose.value:
        for layout in known:
            if layout.type == wanted or (not layout.type and _ENGLISH.get(_plain(layout.name)) == wanted):
                return layout
    for layout in known:
        if title(layout.root) is not None and (purpose is not Purpose.CONTENT or body(layout.root) is not None):
            return layout
    return known[0]


def _part_name(layout: Layout) -> str:
    """Return what tells layouts of one name apart: how the part is called, such as `slidelayout3`."""
    return posixpath.basename(layout.part).rpartition(".")[0].casefold()


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()
