"""Spots: between which elements something comes that moves beside a node, or to its end."""

from collections.abc import Sequence
from dataclasses import dataclass

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.block import level_of
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.names import P
from officeplane.formats.word.nodes.extents import extent
from officeplane.formats.word.nodes.inserting import Side, check_side
from officeplane.formats.word.nodes.texts import holder_of
from officeplane.formats.xml import Element


@dataclass(frozen=True, slots=True)
class Spot:
    """Where something comes: below an element, before one of those in it, or at its end."""

    parent: Element
    following: Element | None

    def put(self, elements: Sequence[Element]) -> None:
        """Move elements there."""
        for one in elements:
            if self.following is None:
                self.parent.append(one)
            else:
                self.following.addprevious(one)


def spot_beside(finder: Finder, found: Found, side: Side, level: int) -> Spot:
    """Return where something comes; what is a heading of a level comes behind all that is below one like it."""
    check_side(found, side)
    if found.place is not None and found.kind != "table":
        return _of_place(finder, found, side, level)
    if side == "into":
        holder = holder_of(found)
        if holder is None:
            raise InvalidEditError(f"{found.id!r} is a {found.kind}, which holds no paragraphs")
        return Spot(holder, None)
    elements = extent(finder, found) if side == "after" and 0 < level <= _level(finder, found) else [found.element]
    parent = elements[0].getparent()
    if parent is None:
        raise InvalidEditError(f"nothing can be put {side} {found.id!r}")
    return Spot(parent, elements[0] if side == "before" else elements[-1].getnext())


def _of_place(finder: Finder, found: Found, side: Side, level: int) -> Spot:
    body = finder.stories.body
    place = body.place(found.id)
    blocks, end = body.story.blocks, body.story.end
    if side == "before":
        at = place.begin
    elif not place.is_heading:
        at = place.end if side == "after" or place.marks is None else place.end - 1
        if side == "into" and place.marks is not None and blocks[at].element is not place.marks[1]:
            at = place.end
    elif side == "after":
        at = place.end if 0 < level <= blocks[place.begin].level else place.begin + 1
    else:
        at = place.end if 0 < level <= blocks[place.begin].level + 1 else place.pages_end
    at = min(at, end)
    return Spot(body.story.container, blocks[at].element if at < len(blocks) else None)


def _level(finder: Finder, found: Found) -> int:
    return level_of(found.element, finder.stories.styles) if found.element.tag == P else 0
