"""Rewriting: other paragraphs for a text, in which those that say the same stay as they are.

Old and new paragraphs are put side by side. What has a counterpart that says the
same is left untouched; what takes the place of another takes its formatting.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeAlias

from officeplane.formats.blocks import Block, Heading, Item, Line, Paragraph, Span
from officeplane.formats.commonmark import line as line_as_text
from officeplane.formats.markdown import read
from officeplane.formats.powerpoint.content import paragraph as written
from officeplane.formats.powerpoint.content import starts
from officeplane.formats.powerpoint.names import a, alone
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, text_of
from officeplane.formats.powerpoint.runs import Links, base_of_paragraph, write_line
from officeplane.formats.xml import Element

Told: TypeAlias = Sequence[tuple[Element, Item | Paragraph | None]]
"""The paragraphs of a text, each with the block that it is read as; None for one that says nothing."""

_LIST_ATTRIBUTES: Final = ("marL", "indent", "lvl")
_BULLETS: Final = tuple(
    a(name)
    for name in (
        "buClrTx", "buClr", "buSzTx", "buSzPct", "buSzPts", "buFontTx", "buFont", "buNone", "buAutoNum", "buChar",
        "buBlip",
    )
)  # fmt: skip
_AFTER_BULLETS: Final = frozenset({a("tabLst"), a("defRPr"), a("extLst")})


class New(NamedTuple):
    """A paragraph to come: what it says, as it is compared, and what makes it in the place of another one."""

    key: object
    make: Callable[["Old | None"], Element]


@dataclass(slots=True, eq=False)
class Old:
    """A paragraph that says something, with the blank ones before it."""

    element: Element
    key: object
    block: Item | Paragraph | None
    before: list[Element] = field(default_factory=list[Element])


class Rewritten(NamedTuple):
    """The paragraphs of a text from now on, and those that are gone."""

    paragraphs: list[Element]
    gone: list[Element]
    places: dict[int, int]
    """Where each of the old ones, or what took its place, is now."""


def of_content(blocks: Sequence[Block], links: Links, *, has_bullets: bool, keep: bool) -> list[New]:
    """Return the paragraphs of blocks; with `keep` in the formatting of those whose places they take."""

    def maker(block: Block, start: int) -> Callable[[Old | None], Element]:
        def make(like: Old | None) -> Element:
            base = None if like is None or not keep else base_of_paragraph(like.element, with_emphasis=False)
            made = written(block, start, links, base, has_bullets=has_bullets)
            if like is not None and keep:
                _take_after(made, like.element, is_alike=like.block is not None and _kind(like.block) == _kind(block))
            return made

        return make

    return [
        New((type(block) is Heading, *_kind(block), _settled(getattr(block, "line", ()))), maker(block, start))
        for block, start in zip(blocks, starts(blocks), strict=True)
    ]


def of_text(text: str, *, keep: bool) -> list[New]:
    """Return the lines of a plain text as paragraphs; with `keep` in the formatting of those whose places they take."""

    def maker(line: str) -> Callable[[Old | None], Element]:
        def make(like: Old | None) -> Element:
            made = alone(PARAGRAPH)
            base = None if like is None or not keep else base_of_paragraph(like.element, with_emphasis=True)
            write_line(made, (Span(line),), lambda _: None, base)
            if like is not None and keep:
                _take_after(made, like.element, is_alike=True)
            return made

        return make

    return [New(line, maker(line)) for line in text.split("\n")]


def rewritten(
    told: Told, new: Sequence[New], *, by_text: bool, keep: bool, has_insets: Callable[[Element], bool]
) -> Rewritten:
    """Return a text with other paragraphs in place of those it had; blank ones stay with what they stood before."""
    olds, tail = _olds(told, by_text=by_text or not keep)
    empty = None
    if not olds and tail:
        empty = Old(tail[0], None, None)
        tail = [each for each in tail if has_insets(each)]
    result: list[Element] = []
    heirs = {element: element for element, _ in told}
    matcher = SequenceMatcher(
        None, [old.key if keep else old for old in olds], [each.key for each in new], autojunk=False
    )
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            for old in olds[i1:i2]:
                result += [*old.before, old.element]
            continue
        beside = olds[i1:i2] or olds[max(i1 - 1, 0) : i1] or olds[i1 : i1 + 1]
        for place, each in enumerate(new[j1:j2]):
            like = beside[min(place, len(beside) - 1)] if beside else empty
            if i1 + place < i2:
                result += olds[i1 + place].before
            result.append(each.make(like))
            if i1 + place < i2:
                heirs[olds[i1 + place].element] = result[-1]
    result += tail
    if not result:
        result.append(_blank([element for element, _ in told]))
    return _as_rewritten(told, result, heirs)


def appended(told: Told, new: Sequence[New], has_insets: Callable[[Element], bool]) -> Rewritten:
    """Return a text that goes on with other paragraphs, in the formatting of its last one."""
    old = [element for element, _ in told]
    last = next((Old(each, None, block) for each, block in reversed(told) if block is not None), None)
    if last is None and old:
        last = Old(old[0], None, None)
        old = [each for each in old if has_insets(each)]
    return _as_rewritten(told, [*old, *(each.make(last) for each in new)], {each: each for each in old})


def _as_rewritten(told: Told, result: list[Element], heirs: Mapping[Element, Element]) -> Rewritten:
    at = {element: place for place, element in enumerate(result)}
    places = {place: at[heirs[element]] for place, (element, _) in enumerate(told) if heirs.get(element) in at}
    return Rewritten(result, [element for element, _ in told if element not in at], places)


def _olds(told: Told, *, by_text: bool) -> tuple[list[Old], list[Element]]:
    found: list[Old] = []
    blank: list[Element] = []
    for element, block in told:
        if block is None and not by_text:
            blank.append(element)
            continue
        key = text_of(element) if by_text or block is None else (False, *_kind(block), _as_read(block.line))
        found.append(Old(element, key, block, blank))
        blank = []
    return found, blank


def _kind(block: Block) -> tuple[str, bool, int]:
    if isinstance(block, Item):
        return "item", block.ordered, block.depth
    return ("text" if isinstance(block, Paragraph | Heading) else type(block).__name__), False, 0


def _as_read(line: Line) -> Line:
    """Return a line as content says it: only so can it be compared with what somebody has written."""
    blocks = read(line_as_text(line)).blocks
    return _settled(blocks[0].line) if len(blocks) == 1 and isinstance(blocks[0], Paragraph) else line


def _settled(line: Iterable[Span]) -> Line:
    """Return a line in which no two neighbours look the same."""
    spans: list[Span] = []
    for span in line:
        if spans and _looks(spans[-1]) == _looks(span):
            spans[-1] = Span(spans[-1].text + span.text, *_looks(span))
        elif span.text:
            spans.append(span)
    return tuple(spans)


def _looks(span: Span) -> tuple[bool, bool, bool, bool, str | None]:
    return span.bold, span.italic, span.strike, span.code, span.link


def _blank(old: Sequence[Element]) -> Element:
    """Return a paragraph without a text, in the formatting of the first one there was."""
    made = alone(PARAGRAPH)
    if old:
        _take_after(made, old[0], is_alike=True)
    return made


def _take_after(made: Element, like: Element, *, is_alike: bool) -> None:
    """Give a paragraph the properties of another one; if it is of another kind, all but those that make lists."""
    own, theirs = made.find(a("pPr")), like.find(a("pPr"))
    if is_alike:
        if own is not None:
            made.remove(own)
        if theirs is not None:
            made.insert(0, deepcopy(theirs))
    elif theirs is not None:
        properties = deepcopy(theirs)
        for name in _LIST_ATTRIBUTES:
            properties.attrib.pop(name, None)
        for child in list(properties):
            if child.tag in _BULLETS:
                properties.remove(child)
        at = next((place for place, child in enumerate(properties) if child.tag in _AFTER_BULLETS), len(properties))
        for name, value in () if own is None else own.attrib.items():
            properties.set(name, value)
        for offset, child in enumerate([] if own is None else list(own)):
            properties.insert(at + offset, child)
        if own is not None:
            made.remove(own)
        made.insert(0, properties)
    end = like.find(a("endParaRPr"))
    if end is not None:
        made.append(deepcopy(end))
