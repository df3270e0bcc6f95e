"""Free places: where on a slide something new goes, in its content's width and clear of what lies there."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from officeplane.formats.powerpoint.geometry import Area
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, text_of
from officeplane.formats.powerpoint.placeholders import placeholder
from officeplane.formats.powerpoint.shapes import SHAPE, on_top_level
from officeplane.formats.xml import Element

_MARGIN: Final = 91_440
_LEAST: Final = 0.5
"""How much of the height that is wanted has to be free, or it is taken where it is not."""


class FreePlace(NamedTuple):
    """Where something new goes, and whether nothing else lies there."""

    area: Area
    is_clear: bool


def free_place(root: Element, room: Room, height: int) -> FreePlace:
    """Return the first place of such a height, or the highest there is; if none is, the foot of the content's."""
    content = room.for_body(root)
    foot = content.y + content.height
    gaps: list[tuple[int, int]] = []
    begin = content.y
    for area in sorted(_taken(root, room), key=lambda each: each.y):
        if area.x < content.x + content.width and content.x < area.x + area.width:
            gaps.append((begin, min(area.y - _MARGIN, foot)))
            begin = max(begin, area.y + area.height + _MARGIN)
    gaps.append((begin, foot))
    low, high = next((gap for gap in gaps if gap[1] - gap[0] >= height), max(gaps, key=lambda gap: gap[1] - gap[0]))
    if high - low >= height * _LEAST:
        return FreePlace(Area(content.x, low, content.width, min(height, high - low)), is_clear=True)
    low = max(foot - height, content.y)
    return FreePlace(Area(content.x, low, content.width, min(height, content.height)), is_clear=False)


def _taken(root: Element, room: Room) -> Iterator[Area]:
    for shape in on_top_level(root):
        # A placeholder in which nothing was written is seen by nobody.
        if shape.tag == SHAPE and placeholder(shape) is not None:
            if any(text_of(each).strip() for each in shape.iter(PARAGRAPH)):
                yield room.of(shape)
        else:
            yield room.of(shape)
