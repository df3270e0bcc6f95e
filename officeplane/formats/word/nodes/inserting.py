"""Inserting: new blocks before or after a node, or at the end of one that holds others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning
from officeplane.formats.blocks import Block, Item
from officeplane.formats.word.brought import Brought, Numbers
from officeplane.formats.word.content import Contents
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.list_numbers import ListNumbers
from officeplane.formats.word.looks.properties import properties_of, put
from officeplane.formats.word.names import P_PR, TBL, TC, TR, VAL, P, element, w
from officeplane.formats.word.nodes.boxes import copy_boxes
from officeplane.formats.word.nodes.pen import Pen
from officeplane.formats.word.nodes.texts import holder_of
from officeplane.formats.word.numbering import DEPTH_MAX
from officeplane.formats.word.placing import check_open
from officeplane.formats.word.segments import text_of
from officeplane.formats.word.story import Story
from officeplane.formats.word.styles import CHAPTER_LEVEL, SECTION_LEVEL
from officeplane.formats.xml import Element

Side: TypeAlias = Literal["before", "after", "into"]
_PARAGRAPHS: Final = frozenset(("paragraph", "heading", "item", "table"))
_PLACES: Final = frozenset(("chapter", "section", "page"))


@dataclass(frozen=True, slots=True)
class Made:
    """What was inserted into a story: its paragraphs and tables; headings that are places have ids already."""

    story: Story
    elements: Sequence[Element]
    headings: Sequence[tuple[Element, str]]

    def ids(self) -> list[str]:
        """Return their ids, once they are named."""
        known = dict(self.headings)
        return [known.get(one) or node_id_of(self.story, one) for one in self.elements]


def node_id_of(story: Story, one: Element) -> str:
    """Return the id of a paragraph or a table."""
    row = next(one.iter(TR), None) if one.tag == TBL else None
    return f"p-{story.ids.of(one)}" if row is None else f"t-{story.ids.of(row)}"


class Inserting:
    """Inserts content; `fresh_id` gives ids to chapters, sections and pages."""

    def __init__(self, finder: Finder, fresh_id: Callable[[str], str], numbers: Numbers) -> None:
        self._finder = finder
        self._fresh_id = fresh_id
        self._numbers = numbers
        self.warnings: list[EditWarning] = []
        """What content names that is not there."""

    def insert(self, blocks: Sequence[Block], beside: str, side: Side, style: str | None) -> Made:
        """Put content beside a node, or at its end."""
        found = self._finder.find(beside)
        if not blocks:
            raise InvalidEditError("the content says nothing: give what is to be inserted")
        style_id = None if style is None else self._finder.stories.styles.paragraph(style)
        check_side(found, side)
        brought = Brought(
            self._finder, found.story, self._numbers, found.element, lambda: check_open(found, found.element, side)
        )
        brought.look_up(blocks)
        self._finder.stories.stamp(found.story)
        pen = Pen(self._finder, found.story, Contents(self._finder.package, self._finder.stories, {}), brought)
        made = self._elements(pen, blocks, _neighbours(found, side))
        self.warnings += brought.warnings
        if style_id is not None:
            for one in made:
                if one.tag == P and not pen.level(one):
                    _set_style(one, style_id)
        is_top = found.story is self._finder.stories.body.story
        top = {block.element for block in found.story.blocks[found.begin : found.end]}
        if is_top and (found.kind in _PLACES or found.place is not None):
            return self._at_place(pen, made, found, side)
        if is_top and found.kind in _PARAGRAPHS and found.element in top:
            headings = self._headings(pen, made)
            self._finder.stories.body.insert(found.begin + (side == "after"), made, headings)
            return Made(found.story, made, headings)
        self._inside(made, found, side)
        return Made(found.story, made, ())

    def _elements(self, pen: Pen, blocks: Sequence[Block], neighbours: Sequence[Element]) -> list[Element]:
        """Return new elements; items next to a list become its items."""
        made = pen.writer.elements(blocks)
        if len(made) != len(blocks):
            return made
        runs = (range(len(blocks)), range(len(blocks) - 1, -1, -1))
        for like, places in zip(neighbours, runs, strict=False):
            for place in places:
                block = blocks[place]
                if not isinstance(block, Item) or not self._is_of_list(like, block):
                    break
                made[place] = _deeper(pen.made_like(like, block), block.depth)
        return made

    def _is_of_list(self, like: Element, block: Item) -> bool:
        if like.tag != P or self._finder.kind_of(like) != "item":
            return False
        label = ListNumbers(self._finder.package, self._finder.stories.part, self._finder.stories.styles).of(like)
        has_own = like.find(f"{P_PR}/{w('numPr')}/{w('ilvl')}") is not None
        return label is not None and label.is_counted == block.ordered and (has_own or block.depth == 0)

    def _headings(self, pen: Pen, made: Sequence[Element]) -> list[tuple[Element, str]]:
        kinds = {CHAPTER_LEVEL: "chapter", SECTION_LEVEL: "section"}
        levels = ((one, pen.level(one)) for one in made if one.tag == P)
        return [(one, self._fresh_id(kinds[level])) for one, level in levels if level in kinds]

    def _at_place(self, pen: Pen, made: list[Element], found: Found, side: Side) -> Made:
        body, place = self._finder.stories.body, found.place
        if place is None:
            raise InvalidEditError(f"{found.id!r} is no place of the text")
        place = body.place(place.id)
        headings = self._headings(pen, made)
        last: list[Element] = []
        at = 0
        if side == "into" and (headings or not place.is_heading):
            at, last = body.end_of(place, of_all=bool(headings) and made[0] is headings[0][0])
        elif side == "before":
            at = place.begin
        elif side == "after":
            at = place.begin + 1 if place.is_heading else place.end
        if headings or (side == "into" and not place.is_heading):
            body.insert(at, [*made, *last], headings)
        elif side == "into":
            body.append_page(place, made, self._fresh_id("page"))
        else:
            body.insert_page(at, made, self._fresh_id("page"))
        return Made(found.story, made, headings)

    def _inside(self, made: Sequence[Element], found: Found, side: Side) -> None:
        holder = holder_of(found) if side == "into" else found.element.getparent()
        if holder is None:
            raise InvalidEditError(f"{found.id!r} is a {found.kind}, and nothing can be put {side} that")
        if side == "into":
            blank = _only_blank(holder)
            holder.extend(made)
            if blank is not None and made[-1].tag == P:
                holder.remove(blank)
        elif side == "before":
            for one in made:
                found.element.addprevious(one)
        else:
            for one in reversed(made):
                found.element.addnext(one)
        keep_apart(holder)
        copy_boxes(holder)
        changed = {block.element for block in found.story.blocks[found.begin : found.end]}
        found.story.reread(changed)


def keep_apart(holder: Element) -> None:
    """Have no two tables touch, and a paragraph at the end of a cell."""
    for held in list(holder):
        following = held.getnext()
        is_end = following is None and holder.tag == TC
        if held.tag == TBL and (is_end or (following is not None and following.tag == TBL)):
            held.addnext(element("p"))


def check_side(found: Found, side: Side) -> None:
    """Refuse what nothing can stand beside, or in."""
    is_place = found.kind in _PLACES or found.place is not None
    if side == "into":
        if not is_place and holder_of(found) is None:
            raise InvalidEditError(
                f"{found.id!r} is a {found.kind}, which holds no paragraphs: name a chapter, a section, a page, "
                "a cell, a header, a note or a text box, or say before or after"
            )
        if found.kind == "table":
            raise InvalidEditError(f"{found.id!r} is a table: name one of its cells, or say before or after")
    elif not is_place and found.kind not in _PARAGRAPHS:
        more = "; `into` puts it at its end" if holder_of(found) is not None else ""
        raise InvalidEditError(
            f"{found.id!r} is a {found.kind}: content stands {side} paragraphs, headings, tables and pages{more}"
        )


def _neighbours(found: Found, side: Side) -> list[Element]:
    """Return the paragraphs that the first and the last new block are next to, the one that was named first."""
    if found.kind in _PLACES:
        return []
    if side == "into":
        holder = holder_of(found)
        held = [] if holder is None else [one for one in holder if one.tag == P]
        return held[-1:]
    one = found.element
    if side == "after":
        following = one.getnext()
        return [one, following] if following is not None else [one]
    before = one.getprevious()
    # Inserted before it, the last new block is next to what was named.
    return [one if before is None or before.tag != P else before, one]


def _deeper(made: Element, depth: int) -> Element:
    level = made.find(f"{P_PR}/{w('numPr')}/{w('ilvl')}")
    if level is not None and depth:
        own = level.get(VAL, "0")
        level.set(VAL, str(min((int(own) if own.isdecimal() else 0) + depth, DEPTH_MAX)))
    return made


def _set_style(paragraph: Element, style_id: str) -> None:
    put(properties_of(paragraph, "pPr"), "pPr", "pStyle", val=style_id)


def _only_blank(holder: Element) -> Element | None:
    held = [one for one in holder if one.tag in {P, TBL}]
    is_blank = len(held) == 1 and held[0].tag == P and not text_of(held[0]) and all(one.tag == P_PR for one in held[0])
    return held[0] if is_blank else None
