"""Paragraphs: their list, alignment and the room around them."""

from dataclasses import dataclass
from typing import Final

from officeplane.formats.powerpoint.content import HANGING, STEP
from officeplane.formats.powerpoint.fitting import POINT
from officeplane.formats.powerpoint.looks.properties import put, take
from officeplane.formats.powerpoint.names import a, attribute_number, under
from officeplane.formats.xml import Element

_PARAGRAPH: Final = "pPr"
_ALIGNMENTS: Final = {"left": "l", "center": "ctr", "right": "r", "justify": "just"}
_SIGNS: Final = ("buNone", "buAutoNum", "buChar", "buBlip")
_FONTS_OF_SIGNS: Final = ("buFontTx", "buFont")


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """What to change of paragraphs; None leaves it as it is."""

    list_kind: str | None = None
    align: str | None = None
    indent: float | None = None
    before: float | None = None
    after: float | None = None
    line: float | None = None

    @property
    def says_something(self) -> bool:
        """Whether anything is to be changed."""
        return self != Paragraphs()

    def give(self, paragraph: Element, *, has_bullets: bool) -> None:
        """Change a paragraph; `has_bullets` tells whether those around it have bullets by themselves."""
        properties = paragraph.find(a("pPr"))
        if properties is None:
            properties = under(paragraph, a("pPr"))
            paragraph.insert(0, properties)
        if self.list_kind is not None:
            _give_list(properties, self.list_kind, has_bullets=has_bullets)
        if self.align is not None:
            properties.set("algn", _ALIGNMENTS[self.align])
        if self.indent is not None:
            left = round(self.indent * POINT)
            properties.set("marL", str(left))
            # What hangs out to the left of the others stays within the text.
            if not left or attribute_number(properties, "indent", 0) < -left:
                properties.set("indent", str(-left))
        for name, points in (("lnSpc", self.line), ("spcBef", self.before), ("spcAft", self.after)):
            if points is not None:
                under(put(properties, _PARAGRAPH, name), a("spcPts"), val=str(round(points * 100)))


def _give_list(properties: Element, kind: str, *, has_bullets: bool) -> None:
    signs = {name for name in _SIGNS if properties.find(a(name)) is not None}
    if kind == "bullet" and (signs & {"buChar", "buBlip"} or (has_bullets and not signs)):
        return
    if kind == "number" and "buAutoNum" in signs:
        return
    take(properties, *_SIGNS, *_FONTS_OF_SIGNS)
    if kind == "none":
        put(properties, _PARAGRAPH, "buNone")
        properties.set("marL", "0")
        properties.set("indent", "0")
        return
    is_flush = not attribute_number(properties, "marL", 0) and not attribute_number(properties, "indent", 0)
    if is_flush and has_bullets:
        for name in ("marL", "indent"):
            properties.attrib.pop(name, None)
    elif is_flush:
        properties.set("marL", str(STEP * attribute_number(properties, "lvl", 0) + HANGING))
        properties.set("indent", str(-HANGING))
    if kind == "number":
        put(properties, _PARAGRAPH, "buFont", typeface="+mj-lt")
        put(properties, _PARAGRAPH, "buAutoNum", type="arabicPeriod")
    elif not has_bullets:
        put(properties, _PARAGRAPH, "buFont", typeface="Arial")
        put(properties, _PARAGRAPH, "buChar", char="•")
