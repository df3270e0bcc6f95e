"""Overflow: tables that run off their slide, and texts that have no room where they stand.

No program is asked how it sets a text: letters are counted and taken for half as wide as
they are high. So a text is only told of when it goes well beyond its place, and then as
what is probable.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from officeplane.formats.powerpoint.fitting import AUTOMATIC, POINT, height
from officeplane.formats.powerpoint.geometry import area_of
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.names import a, attribute_number, p
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, text_of
from officeplane.formats.powerpoint.placeholders import is_of_the_program
from officeplane.formats.powerpoint.shapes import SHAPE, shape_tree, table
from officeplane.formats.xml import Element

_SLACK: Final = 1.25
_SMALLEST: Final = 0.25
_SMALLEST_OF_TITLES: Final = 0.9
"""PowerPoint makes titles only so much smaller by itself."""

_OF_A_CELL: Final = 1_800
_PADDING_OF_A_CELL: Final = int(7.2 * POINT)
_SHOWN: Final = 40


def overflows(root: Element, room: Room) -> Iterator[str]:
    """Yield a sentence about each thing on a slide that does not fit; what lies in groups is not looked at."""
    for shape in shape_tree(root):
        found = table(shape)
        if found is not None:
            yield from _of_table(shape, found, room)
        elif shape.tag == SHAPE and not is_of_the_program(shape):
            yield from _of_text(shape, room)


def _of_table(frame: Element, found: Element, room: Room) -> Iterator[str]:
    area = area_of(frame)
    if area is None:
        return
    left = room.whole.height - area.y
    heights = [attribute_number(row, "h", 0) for row in found.iterfind(a("tr"))]
    fitting = sum(end <= left for end in accumulate(heights))
    if sum(heights) > left + POINT:
        yield f"the table of {len(heights)} rows runs off the slide, which has room for {fitting} of them"
    elif sum(_heights(found, heights)) > left * _SLACK:
        yield f"the text of a table of {len(heights)} rows probably makes it run off the slide"


def _heights(found: Element, stated: list[int]) -> Iterator[int]:
    """Yield about how high each row is with its text; cells that are merged are not looked at."""
    widths = [attribute_number(column, "w", 0) for column in found.iterfind(f"{a('tblGrid')}/{a('gridCol')}")]
    for row, least in zip(found.iterfind(a("tr")), stated, strict=True):
        texts = [
            height(text, width, _OF_A_CELL, is_list=False) + _PADDING_OF_A_CELL
            for cell, width in zip(row.iterfind(a("tc")), widths, strict=False)
            if not {"gridSpan", "rowSpan", "hMerge", "vMerge"} & set(cell.attrib)
            and (text := cell.find(a("txBody"))) is not None
        ]
        yield max(least, *texts) if texts else least


def _of_text(shape: Element, room: Room) -> Iterator[str]:
    text = shape.find(p("txBody"))
    form = None if text is None else text.find(a("bodyPr"))
    if text is None or form is None or form.get("wrap") == "none" or form.get("vert", "horz") != "horz":
        return
    area, size, fitting, models = room.setting(shape)
    is_title = models is not None and models.is_title
    is_list = models is not None and not is_title
    share = 1.0
    if fitting == AUTOMATIC:
        share = _SMALLEST_OF_TITLES if is_title else _SMALLEST
    needed = height(text, area.width, size, share, is_list=is_list)
    if not needed or not area.height:
        return
    if fitting == a("spAutoFit"):
        sentence = "runs off the slide" if area.y + needed / _SLACK > room.whole.height else ""
    elif needed > area.height * _SLACK:
        sentence = f"has no room where it stands{' even in small letters' if share < 1 else ''}"
    else:
        sentence = ""
    if sentence:
        said = " ".join(" ".join(map(text_of, text.iterfind(PARAGRAPH))).split())
        yield f"the {'title' if is_title else 'text'} {_cut(said)!r} probably {sentence}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
