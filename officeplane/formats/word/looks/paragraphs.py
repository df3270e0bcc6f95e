"""Paragraphs: their style, level, list, alignment and the room around them."""

from dataclasses import dataclass
from typing import Final

from officeplane.formats.word.looks.properties import have, place_in, properties_of, put, take
from officeplane.formats.word.names import element, value, w
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

_PARAGRAPH: Final = "pPr"
_TWENTIETHS: Final = 20
_ALIGNMENTS: Final = {"left": "left", "center": "center", "right": "right", "justify": "both"}
_NO_LIST: Final = "0"


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """What to change of paragraphs; None leaves it as it is."""

    style: str | None = None
    """The id of a paragraph style; the empty text takes a heading's style away."""
    list_number: str | None = None
    """The number of the list that they become items of; the empty text takes them out of theirs."""
    align: str | None = None
    indent: float | None = None
    before: float | None = None
    after: float | None = None
    line: float | None = None

    @property
    def says_something(self) -> bool:
        """Whether anything is to be changed."""
        return self != Paragraphs()

    def give(self, paragraph: Element, styles: Styles) -> None:
        """Change a paragraph."""
        properties = properties_of(paragraph, _PARAGRAPH)
        if self.style is not None:
            self._give_style(properties, styles)
        if self.list_number is not None:
            self._give_list(properties, styles)
        if self.align is not None:
            put(properties, _PARAGRAPH, "jc", val=_ALIGNMENTS[self.align])
        if self.indent is not None:
            _set(properties, "ind", ("start", "leftChars", "startChars"), left=_twentieths(self.indent))
        spacing: dict[str, str] = {}
        for name, points in (("before", self.before), ("after", self.after), ("line", self.line)):
            if points is not None:
                spacing[name] = _twentieths(points)
        if self.line is not None:
            spacing["lineRule"] = "atLeast"
        if spacing:
            no_more = [
                f"{name}{what}" for name in ("before", "after") if name in spacing for what in ("Lines", "Autospacing")
            ]
            _set(properties, "spacing", no_more, **spacing)

    def _give_style(self, properties: Element, styles: Styles) -> None:
        is_heading = styles.level(self.style or value(properties, "pStyle")) > 0
        if is_heading:
            # A heading's level is that of its style.
            take(properties, "outlineLvl")
        if self.style:
            put(properties, _PARAGRAPH, "pStyle", val=self.style)
        else:
            take(properties, "outlineLvl")
            if is_heading:
                take(properties, "pStyle")

    def _give_list(self, properties: Element, styles: Styles) -> None:
        known = properties.find(w("numPr"))
        depth = value(known, "ilvl") or "0"
        take(properties, "numPr")
        style = value(properties, "pStyle")
        if not self.list_number:
            is_of_style = any(one.find(f"{w('pPr')}/{w('numPr')}") is not None for one in styles.chain(style or ""))
            if not is_of_style:
                return
        made = element("numPr")
        for name, said in (("ilvl", depth), ("numId", self.list_number or _NO_LIST)):
            made.append(element(name, val=said))
        place_in(properties, _PARAGRAPH, made)
        of_lists = styles.find("paragraph", "List Paragraph")
        if self.list_number and style is None and of_lists is not None:
            put(properties, _PARAGRAPH, "pStyle", val=of_lists)


def _set(properties: Element, name: str, no_more: tuple[str, ...] | list[str], **said: str) -> None:
    """Say some of several things that one property says; what says the same otherwise goes."""
    found = have(properties, _PARAGRAPH, name)
    for other in no_more:
        found.attrib.pop(w(other), None)
    for key, text in said.items():
        found.set(w(key), text)


def _twentieths(points: float) -> str:
    return str(round(points * _TWENTIETHS))
