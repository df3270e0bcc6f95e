"""Blocks of a story: a paragraph, a table, a control or a mark between them, and what is known of it."""

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from officeplane.formats.word.bookmarks import RANGE_MARKS, node_of, number_of
from officeplane.formats.word.insets import SHOWN, Inset, insets_of, outermost
from officeplane.formats.word.names import (
    BOOKMARK_END,
    BOOKMARK_START,
    COMMENT_REFERENCE,
    FALLBACK,
    ID,
    P_PR,
    PARA_ID,
    SDT,
    SECT_PR,
    TBL,
    TC,
    TR,
    P,
    value,
    w,
)  # fmt: skip
from officeplane.formats.word.segments import text_of
from officeplane.formats.word.styles import LEVELS, SECTION_LEVEL, Styles
from officeplane.formats.xml import Element

_LEADS: Final = frozenset((P_PR, BOOKMARK_START, BOOKMARK_END, w("proofErr"), w("commentRangeEnd"), w("permEnd")))
_WRAPPERS: Final = frozenset((SDT, w("sdtContent"), w("customXml"), w("ins"), w("moveTo")))
_NOTHING: Final = RANGE_MARKS | {SECT_PR, w("proofErr")}
_SEEN: Final = tuple(w(name) for name in ("drawing", "pict", "object", "ins", "del", "moveFrom", "moveTo"))
"""What is seen in a paragraph without a text: what is drawn, and tracked changes, of an end, too."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph anywhere inside a block, and its text."""

    element: Element
    text: str
    counts: bool


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a bookmark; it may stand before all text of its block and so end before it."""

    mark: Element
    number: int
    is_leading: bool


class Block:
    """One element at the top of a story."""

    __slots__ = (
        "_insets",
        "_paragraphs",
        "_text",
        "closings",
        "comment_ids",
        "element",
        "highest",
        "is_content",
        "is_landmark",
        "level",
        "openings",
        "para_id",
        "paragraph",
    )

    def __init__(self, element: Element, styles: Styles | None) -> None:
        self.element = element
        self.openings: list[tuple[str, Element]] = []
        self.closings: list[Closing] = []
        self.comment_ids: list[str] = []
        self.highest = -1
        self.level = 0
        self.is_content = isinstance(element.tag, str) and element.tag not in _NOTHING
        # What makes it a heading, if it is one: itself, or all that a control holds.
        self.paragraph = element if element.tag != SDT else _held(element)
        self.para_id = self.paragraph.get(PARA_ID)
        self._insets: list[Inset] | None = None
        self._paragraphs: list[Paragraph] | None = None
        self._text: str | None = None
        leading: set[Element] | None = None
        for mark in element.iter(BOOKMARK_START, BOOKMARK_END, COMMENT_REFERENCE):
            if leading is None and mark.tag == BOOKMARK_END:
                # Looked up once: there may be thousands of marks, one behind the other.
                leading = {element, *takewhile(_leads, element)}
            self._note(mark, leading or ())
        if self.paragraph.tag == P and styles is not None:
            self.level = level_of(self.paragraph, styles)
        # Nodes begin or end here.
        self.is_landmark = bool(self.openings or self.closings) or 0 < self.level <= SECTION_LEVEL

    @property
    def is_table(self) -> bool:
        """Tell whether it is a table."""
        return self.element.tag == TBL

    @property
    def is_blank(self) -> bool:
        """Tell whether a reader sees nothing of it but perhaps an empty line."""
        if not self.is_content:
            return True
        is_silent = self.element.tag == P and not self.text and not self.comment_ids
        return is_silent and next(self.element.iter(*_SEEN), None) is None

    @property
    def section_break(self) -> Element | None:
        """The section that ends with this paragraph, if one does."""
        properties = self.element.find(P_PR) if self.element.tag == P else None
        return None if properties is None else properties.find(SECT_PR)

    @property
    def insets(self) -> list[Inset]:
        """What stands in it without being text."""
        if self._insets is None:
            self._insets = insets_of(self.element)
        return self._insets

    @property
    def paragraphs(self) -> list[Paragraph]:
        """All paragraphs inside, those of tables and text boxes too, in order."""
        if self._paragraphs is None:
            self._paragraphs = _paragraphs(self.element)
        return self._paragraphs

    @property
    def says_something(self) -> bool:
        """Tell whether it has text, if only an empty line."""
        return self.is_content or bool(self.paragraphs)

    @property
    def searched(self) -> str:
        """Return the texts of all paragraphs with a mark between that is in no text."""
        paragraphs = self._paragraphs or self.paragraphs
        return paragraphs[0].text if len(paragraphs) == 1 else "\0".join([paragraph.text for paragraph in paragraphs])

    @property
    def text(self) -> str:
        """The text as a reader sees it: rows of a table by line, their cells by tab."""
        if self._text is None:
            self._text = "\n".join(_lines(self.element, self._texts()))
        return self._text

    @property
    def marked_text(self) -> str:
        """The text with a mark for each picture, break or note, where the paragraph ends that it stands in."""
        if not self.insets:
            return self.text
        texts = self._texts()
        leading: dict[Element, list[str]] = {}
        following: dict[Element | None, list[str]] = {}
        for inset in outermost(self.insets):
            if inset.kind in SHOWN:
                mark, paragraph = f"[{inset.kind}]", inset.paragraph
                if paragraph is None or paragraph not in texts:
                    following.setdefault(None, []).append(mark)
                else:
                    (leading if inset.leads else following).setdefault(paragraph, []).append(mark)
        for paragraph, text in texts.items():
            before, behind = leading.get(paragraph, []), following.get(paragraph, [])
            if before or behind:
                texts[paragraph] = " ".join([*before, *([text] if text.strip() else []), *behind])
        return "\n".join([*_lines(self.element, texts), *following.get(None, [])])

    def reread(self, changed: Container[Element]) -> None:
        """Learn anew what some of its paragraphs say."""
        self._text = self._insets = None
        if self._paragraphs is not None:
            self._paragraphs = [
                Paragraph(one.element, text_of(one.element), one.counts) if one.element in changed else one
                for one in self._paragraphs
            ]

    def _texts(self) -> dict[Element, str]:
        return {one.element: one.text for one in self.paragraphs if one.counts}

    def _note(self, mark: Element, leading: Collection[Element]) -> None:
        if mark.tag == COMMENT_REFERENCE:
            self.comment_ids.append(mark.get(ID, ""))
            return
        number = number_of(mark)
        self.highest = max(self.highest, number)
        if mark.tag == BOOKMARK_END:
            self.closings.append(Closing(mark, number, mark in leading))
        elif (node_id := node_of(mark)) is not None:
            self.openings.append((node_id, mark))


def _leads(inner: Element) -> bool:
    return inner.tag in _LEADS


def _held(control: Element) -> Element:
    content = control.find(w("sdtContent"))
    return content[0] if content is not None and len(content) == 1 else control


def level_of(paragraph: Element, styles: Styles) -> int:
    """Return the level of the heading that a paragraph is, or 0."""
    properties = paragraph.find(P_PR)
    if properties is None:
        return 0
    outline = value(properties, "outlineLvl")
    if outline is not None and outline.isdecimal():
        return int(outline) + 1 if int(outline) < LEVELS else 0
    return styles.level(value(properties, "pStyle"))


def _paragraphs(element: Element) -> list[Paragraph]:
    if next(element.iter(FALLBACK), None) is None:
        return [Paragraph(inner, text_of(inner), counts=True) for inner in element.iter(P)]
    copies = {inner for fallback in element.iter(FALLBACK) for inner in fallback.iter(P)}
    return [Paragraph(inner, text_of(inner), counts=inner not in copies) for inner in element.iter(P)]


def _lines(element: Element, texts: dict[Element, str]) -> Iterator[str]:
    if element.tag == TBL:
        for row in inside(element, TR):
            yield "\t".join(
                " ".join(_lines(cell, texts)).replace("\n", " ").replace("\t", " ") for cell in inside(row, TC)
            )
    elif element.tag == P:
        yield from (texts[inner] for inner in element.iter(P) if inner in texts)
    else:
        for inner in element:
            yield from _lines(inner, texts)


def inside(element: Element, tag: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, also those in content controls."""
    for inner in element:
        if inner.tag == tag:
            yield inner
        elif inner.tag in _WRAPPERS:
            yield from inside(inner, tag)
