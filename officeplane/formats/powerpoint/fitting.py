"""Fitting: how much smaller a long text has to be to stay on its slide.

PowerPoint fits a text when somebody types in it, not when a file is opened, so
what it would do is estimated and written down; it corrects the figure itself at
the first keystroke.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from officeplane.formats.powerpoint.geometry import Area
from officeplane.formats.powerpoint.names import a, alone, attribute_number, p
from officeplane.formats.powerpoint.paragraphs import text_of
from officeplane.formats.xml import Element

_POINT: Final = 12_700
_SIZE: Final = 2_800
_WIDTH_OF_LETTER: Final = 0.5
_HEIGHT_OF_LINE: Final = 1.3
_MARGIN: Final = 15  # points lost at the left and right edges, and nearly so above and below
_INDENT: Final = 27
_STEPS: Final = (92_500, 85_000, 77_500, 70_000, 62_500, 55_000, 47_500, 40_000, 32_500, 25_000)
_WIDE: Final = "\u2e80"  # from here on most letters are as wide as they are high


def fit(text_body: Element, area: Area, size: int) -> None:
    """Note in a text how much smaller it has to be, unless it says that it wants no fitting."""
    form = text_body.find(a("bodyPr"))
    if form is None or form.find(a("noAutofit")) is not None or form.find(a("spAutoFit")) is not None:
        return
    scale = _scale(text_body.findall(a("p")), area, size / 100)
    fitting = form.find(a("normAutofit"))
    if fitting is None:
        if scale is None:
            return
        fitting = alone(a("normAutofit"))
        warp = form.find(a("prstTxWarp"))
        form.insert(0 if warp is None else 1, fitting)
    for name, value in (("fontScale", scale), ("lnSpcReduction", None if scale is None else 10_000)):
        if value is None:
            fitting.attrib.pop(name, None)
        else:
            fitting.set(name, str(value))


def nominal_size(shapes: Iterable[Element | None], master: Element | None) -> int:
    """Return the size of text at the outermost level: by the first shape that says so, or by the master."""
    for shape in shapes:
        level = None if shape is None else shape.find(f"{p('txBody')}/{a('lstStyle')}/{a('lvl1pPr')}/{a('defRPr')}")
        if level is not None and level.get("sz") is not None:
            return attribute_number(level, "sz", _SIZE)
    style = None if master is None else master.find(f"{p('txStyles')}/{p('bodyStyle')}/{a('lvl1pPr')}/{a('defRPr')}")
    return _SIZE if style is None else attribute_number(style, "sz", _SIZE)


def _scale(paragraphs: Sequence[Element], area: Area, size: float) -> int | None:
    """Return the first of PowerPoint's steps at which the text fits; None when it does as it is."""
    lines = [
        (sum(2 if char >= _WIDE else 1 for char in line), _level(paragraph))
        for paragraph in paragraphs
        for line in text_of(paragraph).split("\n")
    ]
    if _height(lines, area, size) <= area.height / _POINT:
        return None
    for step in _STEPS:
        if _height(lines, area, size * step / 100_000) <= area.height / _POINT:
            return step
    return _STEPS[-1]


def _height(lines: Iterable[tuple[int, int]], area: Area, size: float) -> float:
    """Return how high lines of so many letters, at such a level, are in points."""
    rows = 0
    for letters, level in lines:
        width = max(area.width / _POINT - _MARGIN - _INDENT * (level + 1), size)
        rows += max(math.ceil(letters * _WIDTH_OF_LETTER * size / width), 1)
    return rows * size * _HEIGHT_OF_LINE


def _level(paragraph: Element) -> int:
    properties = paragraph.find(a("pPr"))
    return 0 if properties is None else attribute_number(properties, "lvl", 0)
