"""Extents: what a node consists of when it goes or moves, a heading with all that is below it."""

from collections.abc import Sequence

from officeplane.formats.word.block import level_of
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.names import SDT, SECT_PR, P
from officeplane.formats.xml import Element


def extent(finder: Finder, found: Found) -> Sequence[Element]:
    """Return the elements of a node that lie side by side, in order."""
    if found.place is not None:
        blocks = found.story.blocks[found.begin : found.end]
        return [block.element for block in blocks]
    if found.kind != "heading":
        return [found.element]
    level = level_of(found.element, finder.stories.styles)
    below: list[Element] = [found.element]
    for one in found.element.itersiblings():
        # A control may hold a heading and nothing else.
        held = next(one.iter(P), one) if one.tag == SDT else one
        other = level_of(held, finder.stories.styles) if held.tag == P else 0
        if 0 < other <= level or one.tag == SECT_PR:
            break
        below.append(one)
    return below
