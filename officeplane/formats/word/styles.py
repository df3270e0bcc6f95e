"""Styles: found by what they are, whatever their ids are in the document's language, and made when missing."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.word.names import STYLE, W, child, value, w
from officeplane.formats.xml import Element

_CONTENT_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"
_EMPTY: Final = f'<w:styles xmlns:w="{W}"/>'.encode()
_HEADING: Final = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_SIZES: Final = (32, 28, 26, 24, 22, 22, 22, 22, 22)
LEVELS: Final = 9
"""How many levels of headings there are."""

CHAPTER_LEVEL: Final = 1
SECTION_LEVEL: Final = 2


class Styles:
    """The styles of one document."""

    def __init__(self, package: Package, document_part: str) -> None:
        self._package = package
        self._document_part = document_part
        self._part: str | None = None
        self._root: Element | None = None
        self._levels: dict[str, int] = {}
        self._by_name: dict[tuple[str, str], str] = {}
        self._by_id: dict[str, Element] = {}
        self._defaults: dict[str, str] = {}

    def level(self, style_id: str | None) -> int:
        """Return the level of the headings in a style, from 1, or 0 when it is for other text."""
        if style_id is None:
            return 0
        self._look()
        found = self._levels.get(style_id)
        if found is None:
            found = self._levels[style_id] = self._level(style_id)
        return found

    def heading(self, level: int) -> str:
        """Return the style of headings of a level."""
        known = self.find("paragraph", f"heading {level}")
        if known is not None:
            return known
        for style in self._all():
            own = value(style.find(w("pPr")), "outlineLvl")
            if style.get(w("type")) == "paragraph" and own == str(level - 1):
                return style.get(w("styleId"), "")
        return self._made("paragraph", f"heading {level}", f"Heading{level}", lambda made: _fill_heading(made, level))

    def quote(self) -> str:
        """Return the style of somebody else's words."""
        return self.find("paragraph", "Quote") or self._made("paragraph", "Quote", "Quote", _fill_quote)

    def code(self) -> str:
        """Return the style of text kept as it is."""
        name = "HTML Preformatted"
        return self.find("paragraph", name) or self._made("paragraph", name, "HTMLPreformatted", _fill_code)

    def hyperlink(self) -> str:
        """Return the style of links."""
        return self.find("character", "Hyperlink") or self._made("character", "Hyperlink", "Hyperlink", _fill_hyperlink)

    def find_or_make(self, kind: str, name: str, style_id: str, fill: Callable[[Element], None]) -> str:
        """Return the style of a kind and name, made if there is none: `fill` says what it looks like."""
        return self.find(kind, name) or self._made(kind, name, style_id, fill)

    def table(self, name: str) -> str:
        """Return the style of tables of this name or id."""
        return self._called("table", name)

    def paragraph(self, name: str) -> str:
        """Return the style of paragraphs of this name or id."""
        return self._called("paragraph", name)

    def find(self, kind: str, name: str) -> str | None:
        """Return the id of the style of a kind and name, or None."""
        self._look()
        return self._by_name.get((kind, name.lower()))

    def names(self, kind: str) -> list[str]:
        """Return the names of all styles of a kind, in small letters."""
        self._look()
        return [name for of, name in self._by_name if of == kind]

    def default(self, kind: str) -> str | None:
        """Return the id of the style of what names none."""
        self._look()
        return self._defaults.get(kind)

    def name(self, style_id: str) -> str:
        """Return what a style is called, its id if nothing else."""
        return next((value(style, "name") for style in self.chain(style_id)), None) or style_id

    def chain(self, style_id: str) -> Iterator[Element]:
        """Yield a style, the one that it is based on, and so on."""
        self._look()
        seen: set[str] = set()
        at: str | None = style_id
        while at is not None and at not in seen and at in self._by_id:
            seen.add(at)
            style = self._by_id[at]
            yield style
            at = value(style, "basedOn")

    def _called(self, kind: str, name: str) -> str:
        known = self.find(kind, name)
        if known is not None:
            return known
        others: list[str] = []
        for style in self._all():
            if style.get(w("type")) == kind:
                if style.get(w("styleId"), "").lower() == name.lower():
                    return style.get(w("styleId"), "")
                others.append(value(style, "name") or style.get(w("styleId")) or "")
        told = f"it has {', '.join(repr(other) for other in others[:20])}" if others else "it has none"
        raise InvalidEditError(f"the document has no {kind} style {name!r}; {told}")

    def _look(self) -> None:
        if self._part is None or self._part not in self._package:
            arrows = Relationships(self._package, self._document_part).of_type("styles")
            self._part = next((arrow.target for arrow in arrows if arrow.target in self._package), None)
        root = None if self._part is None else self._package.tree(self._part)
        if root is self._root and (root is not None or self._part is None):
            return
        self._root = root
        self._levels.clear()
        self._by_name.clear()
        self._by_id.clear()
        self._defaults.clear()
        for style in self._all():
            self._by_id.setdefault(style.get(w("styleId"), ""), style)
            if style.get(w("default")) in {"1", "true", "on"}:
                self._defaults.setdefault(style.get(w("type"), "paragraph"), style.get(w("styleId"), ""))
            key = (style.get(w("type"), "paragraph"), (value(style, "name") or "").lower())
            self._by_name.setdefault(key, style.get(w("styleId"), ""))

    def _all(self) -> Iterator[Element]:
        if self._root is not None:
            yield from self._root.iterchildren(STYLE)

    def _level(self, style_id: str) -> int:
        seen: set[str] = set()
        by_id = {style.get(w("styleId")): style for style in self._all() if style.get(w("type")) != "character"}
        at: str | None = style_id
        while at is not None and at not in seen and at in by_id:
            seen.add(at)
            style = by_id[at]
            outline = value(style.find(w("pPr")), "outlineLvl")
            if outline is not None and outline.isdecimal():
                return int(outline) + 1 if int(outline) < LEVELS else 0
            named = _HEADING.fullmatch(value(style, "name") or "")
            if named:
                return int(named[1])
            at = value(style, "basedOn")
        # A paragraph may name a heading's style that the document forgot to bring.
        forgotten = None if style_id in by_id else _HEADING.fullmatch(style_id)
        return int(forgotten[1]) if forgotten else 0

    def _made(self, kind: str, name: str, style_id: str, fill: Callable[[Element], None]) -> str:
        self._look()
        if self._part is None:
            self._part = "word/styles.xml"
            self._package.put(self._part, _EMPTY)
            declare(self._package, self._part, _CONTENT_TYPE)
            Relationships(self._package, self._document_part).add("styles", self._part)
            self._look()
        root = self._package.tree(self._part)
        taken = {style.get(w("styleId"), "").lower() for style in root.iterchildren(STYLE)}
        free, number = style_id, 1
        while free.lower() in taken:
            number += 1
            free = f"{style_id}{number}"
        made = child(root, "style", type=kind, styleId=free)
        child(made, "name", val=name)
        self._base(made, kind)
        fill(made)
        self._package.changed(self._part)
        self._root = None
        return free

    def _base(self, made: Element, kind: str) -> None:
        for style in self._all():
            if style.get(w("type")) == kind and style.get(w("default")) in {"1", "true", "on"}:
                child(made, "basedOn", val=style.get(w("styleId"), ""))
                return


def _fill_heading(made: Element, level: int) -> None:
    child(made, "uiPriority", val="9")
    child(made, "qFormat")
    properties = child(made, "pPr")
    child(properties, "keepNext")
    child(properties, "keepLines")
    child(properties, "spacing", before="360" if level == 1 else "240", after="80")
    child(properties, "outlineLvl", val=str(level - 1))
    run = child(made, "rPr")
    child(run, "b")
    child(run, "bCs")
    child(run, "sz", val=str(_SIZES[level - 1]))
    child(run, "szCs", val=str(_SIZES[level - 1]))


def _fill_quote(made: Element) -> None:
    child(made, "uiPriority", val="29")
    child(made, "qFormat")
    child(child(made, "pPr"), "ind", left="720", right="720")
    run = child(made, "rPr")
    child(run, "i")
    child(run, "iCs")


def _fill_code(made: Element) -> None:
    child(made, "uiPriority", val="99")
    child(made, "unhideWhenUsed")
    child(child(made, "pPr"), "spacing", before="0", after="0")
    run = child(made, "rPr")
    child(run, "rFonts", ascii="Courier New", hAnsi="Courier New", cs="Courier New")
    child(run, "sz", val="20")
    child(run, "szCs", val="20")


def _fill_hyperlink(made: Element) -> None:
    child(made, "uiPriority", val="99")
    child(made, "unhideWhenUsed")
    run = child(made, "rPr")
    child(run, "color", val="0563C1")
    child(run, "u", val="single")
