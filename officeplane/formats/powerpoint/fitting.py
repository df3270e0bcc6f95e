"""Fitting: how much smaller a long text has to be to stay on its slide.

PowerPoint fits a text when somebody types in it, not when a file is opened, so
what it would do is estimated and written down; it corrects the figure itself at
the first keystroke.
"""

import math
from collections.abc import Iterable
from typing import Final

from officeplane.formats.powerpoint.geometry import Area
from officeplane.formats.powerpoint.names import a, alone, attribute_number, p
from officeplane.formats.powerpoint.paragraphs import BREAK, FIELD, PARAGRAPH, RUN, text_of
from officeplane.formats.xml import Element

POINT: Final = 12_700
"""What a point is in English metric units."""

AUTOMATIC: Final = a("normAutofit")
"""What a text has that PowerPoint makes smaller by itself."""

_SIZE: Final = 1_800  # of a text for which nothing says another
_WIDTH_OF_LETTER: Final = 0.5
_HEIGHT_OF_LINE: Final = 1.3
_MARGIN: Final = 15  # points lost at the left and right edges, and nearly so above and below
_INDENT: Final = 27
_STEPS: Final = (92_500, 85_000, 77_500, 70_000, 62_500, 55_000, 47_500, 40_000, 32_500, 25_000)
_SAYING: Final = frozenset({RUN, BREAK, FIELD})
_FORMAT: Final = a("rPr")
_END: Final = a("endParaRPr")
_PROPERTIES: Final = a("pPr")
_WIDE: Final = "\u2e80"  # from here on most letters are as wide as they are high


def fit(text_body: Element, area: Area, size: int) -> None:
    """Note in a text how much smaller it has to be, unless it says that it wants no fitting."""
    form = text_body.find(a("bodyPr"))
    if form is None or form.find(a("noAutofit")) is not None or form.find(a("spAutoFit")) is not None:
        return
    scale = _scale(text_body, area, size)
    fitting = form.find(AUTOMATIC)
    if fitting is None:
        if scale is None:
            return
        fitting = alone(AUTOMATIC)
        warp = form.find(a("prstTxWarp"))
        form.insert(0 if warp is None else 1, fitting)
    for name, value in (("fontScale", scale), ("lnSpcReduction", None if scale is None else 10_000)):
        if value is None:
            fitting.attrib.pop(name, None)
        else:
            fitting.set(name, str(value))


def height(text_body: Element, width: int, size: int, share: float = 1, *, is_list: bool = True) -> int:
    """Return about how high a text is in a shape of such a width, at a share of its size.

    Lines of a list begin further right. What is blank above and below the text is not counted.
    """
    rows = blank = 0.0
    for paragraph in text_body.findall(PARAGRAPH):
        points = _size(paragraph, size) / 100 * share
        indent = _INDENT * (_level(paragraph) + 1) if is_list else 0
        room = max(width / POINT - _MARGIN - indent, points)
        for line in text_of(paragraph).split("\n"):
            letters = letters_in(line.strip())
            if letters:
                rows += blank + math.ceil(letters * _WIDTH_OF_LETTER * points / room) * points
                blank = 0.0
            elif rows:
                blank += points
    return int(rows * _HEIGHT_OF_LINE * POINT)


def letters_in(line: str) -> int:
    """Return how wide a line is in letters of the usual width."""
    return len(line) if line.isascii() else sum(2 if char >= _WIDE else 1 for char in line)


def nominal_size(shapes: Iterable[Element | None], master: Element | None, style: str) -> int:
    """Return the size of text at the outermost level: by the first shape that says so, or by a style of the master."""
    for shape in shapes:
        level = None if shape is None else shape.find(f"{p('txBody')}/{a('lstStyle')}/{a('lvl1pPr')}/{a('defRPr')}")
        if level is not None and level.get("sz") is not None:
            return attribute_number(level, "sz", _SIZE)
    said = None if master is None else master.find(f"{p('txStyles')}/{p(style)}/{a('lvl1pPr')}/{a('defRPr')}")
    return _SIZE if said is None else attribute_number(said, "sz", _SIZE)


def _scale(text_body: Element, area: Area, size: int) -> int | None:
    """Return the first of PowerPoint's steps at which the text fits; None when it does as it is."""
    if height(text_body, area.width, size) <= area.height:
        return None
    fitting = (step for step in _STEPS if height(text_body, area.width, size, step / 100_000) <= area.height)
    return next(fitting, _STEPS[-1])


def _size(paragraph: Element, size: int) -> int:
    """Return the size of the largest letters of a paragraph; those that say nothing have the given one."""
    formats = [run.find(_FORMAT) for run in paragraph if run.tag in _SAYING]
    said = [size if form is None else attribute_number(form, "sz", size) for form in formats]
    if said:
        return max(said)
    end = paragraph.find(_END)
    return size if end is None else attribute_number(end, "sz", size)


def _level(paragraph: Element) -> int:
    properties = paragraph.find(_PROPERTIES)
    return 0 if properties is None else attribute_number(properties, "lvl", 0)
