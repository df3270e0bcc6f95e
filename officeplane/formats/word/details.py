"""Details of a text: its headings, pages, paragraphs, tables and what stands in them, as nodes.

Ids are the format's own where it has any that outlive a visit to Word: `w14:paraId`
of paragraphs and rows, numbers of notes, comments, pictures and changes. Where it
has none they are derived from what the node says and its turn among equals.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.formats.blocks import Item
from officeplane.formats.reading.detail import Detail
from officeplane.formats.word.anchors import words_about
from officeplane.formats.word.block import Block, inside, level_of
from officeplane.formats.word.body import Body
from officeplane.formats.word.comments import Comments, comment_id
from officeplane.formats.word.insets import Inset, outermost
from officeplane.formats.word.list_numbers import Label, ListNumbers
from officeplane.formats.word.names import (
    COMMENT_REFERENCE,
    FALLBACK,
    ID,
    SDT,
    TBL,
    TC,
    TEXT_BOX,
    TR,
    VAL,
    P,
    element_name,
    w,
)
from officeplane.formats.word.segments import text_of
from officeplane.formats.word.stories import Aside, Stories
from officeplane.formats.word.story import Story
from officeplane.formats.word.structure import NodePlace
from officeplane.formats.word.styles import SECTION_LEVEL
from officeplane.formats.xml import Element

_DRAWN: Final = frozenset(("picture", "chart", "diagram", "shape", "text box"))
_CHANGES: Final = {w("ins"): "insertion", w("moveTo"): "insertion", w("del"): "deletion", w("moveFrom"): "deletion"}
_WRAPPERS: Final = frozenset((w("ins"), w("moveTo"), w("customXml"), w("smartTag"), w("sdtContent")))
_NOTES: Final = {w("footnote"): "footnote", w("endnote"): "endnote"}
_DERIVED: Final = 12


@dataclass(frozen=True, slots=True)
class ParagraphSource:
    """The paragraph that a node is, and how it was read."""

    element: Element
    level: int
    item: Item | None


@dataclass(frozen=True, slots=True)
class BlocksSource:
    """The stretch of a story that a node is."""

    blocks: list[Block]


class DetailsOfWord:
    """Makes the details of a whole document, once."""

    def __init__(self, stories: Stories, comments: Comments, numbers: ListNumbers) -> None:
        self._stories = stories
        self._remarks = comments.texts()
        self._facts = comments.facts()
        self._about = words_about(stories) if self._facts else {}
        self._numbers = numbers
        self._ids = stories.body.story.ids
        self._turns: Counter[tuple[str, str]] = Counter()
        self._insets: dict[Element, list[Inset]] = {}
        self._controls: dict[Element, Inset] = {}
        self._lists: dict[int, bool] = {}

    def all(self) -> list[Detail]:
        """Return the nodes at the top: chapters, sections and pages, then what stands beside the body."""
        body = self._stories.body
        self._enter(body.story)
        top = [self._place(body, place) for place in body.children(body.structure.root)]
        return [*top, *filter(None, map(self._aside, self._stories.asides))]

    def _place(self, body: Body, place: NodePlace) -> Detail:
        blocks = body.story.blocks
        if not place.is_heading:
            return self._page(place, blocks[place.begin : place.end])
        heading = blocks[place.begin]
        label = self._label(heading.paragraph)
        made = Detail(
            place.id, place.kind, heading.text, level=heading.level, number="" if label is None else label.text,
            is_title=True, is_coarse=True, source=ParagraphSource(heading.paragraph, heading.level, None),
        )  # fmt: skip
        made.children = [*self._of_paragraph(heading.paragraph, place.id)]
        made.children += [self._place(body, inner) for inner in body.children(place)]
        return made

    def _page(self, place: NodePlace, blocks: Sequence[Block]) -> Detail:
        held = [detail for block in blocks if block.is_content for detail in self._blocks([block.element])]
        if place.kind == "table" and (table := _only_table(held)) is not None:
            # The page that an edit has made for a table is that table.
            table.id = place.id
            table.is_coarse = True
            return table
        return Detail(place.id, place.kind, is_coarse=True, children=held, source=BlocksSource(list(blocks)))

    def _aside(self, aside: Aside) -> Detail | None:
        self._enter(aside.story)
        held = [*self._beside(aside)]
        if not any(detail.text.strip() or detail.children for detail in held):
            return None
        return Detail(
            aside.id, aside.kind, is_coarse=True, children=held, source=BlocksSource(list(aside.story.blocks))
        )

    def _beside(self, aside: Aside) -> Iterator[Detail]:
        for block in aside.story.blocks:
            kind = _NOTES.get(str(block.element.tag))
            if kind is None:
                yield from self._blocks([block.element])
            elif block.element.get(w("type"), "normal") == "normal":
                held = [*self._blocks(block.element)]
                yield Detail(f"{kind}-{block.element.get(ID, '')}", kind, children=held, source=BlocksSource([block]))

    def _blocks(self, elements: Iterable[Element]) -> Iterator[Detail]:
        for element in elements:
            if element.tag == P:
                yield self._paragraph(element)
            elif element.tag == TBL:
                yield self._table(element)
            elif element.tag == SDT:
                yield from self._control(element)
            elif element.tag in _WRAPPERS:
                yield from self._blocks(element)

    def _control(self, element: Element) -> Iterator[Detail]:
        content = element.find(w("sdtContent"))
        held = [*self._blocks(() if content is None else content)]
        inset = self._controls.get(element)
        if inset is None or not held:
            yield from held
            return
        number = element.find(f"{w('sdtPr')}/{w('id')}")
        own = "" if number is None else number.get(VAL, "")
        node_id = f"control-{own.replace('-', 'n')}" if own else f"control-{self._derived('control', held[0].id)}"
        yield Detail(node_id, inset.kind, name=inset.name, mark=inset.kind, children=held, source=element)

    def _paragraph(self, element: Element) -> Detail:
        level = level_of(element, self._stories.styles)
        label = self._label(element)
        item = None if level or label is None else self._item(label)
        kind = "heading" if level else "paragraph" if item is None else "item"
        text = text_of(element)
        node_id = f"p-{self._ids.of(element)}"
        made = Detail(
            node_id, kind, text, level=level, number="" if label is None else label.text, is_title=bool(level),
            is_coarse=level > SECTION_LEVEL, source=ParagraphSource(element, level, item),
        )  # fmt: skip
        made.children = [*self._of_paragraph(element, node_id)]
        return made

    def _label(self, paragraph: Element) -> Label | None:
        label = self._numbers.of(paragraph)
        if label is None:
            self._lists.clear()
        return label

    def _item(self, label: Label) -> Item:
        known = self._lists.get(label.depth)
        for deeper in [depth for depth in self._lists if depth > label.depth]:
            del self._lists[deeper]
        self._lists[label.depth] = label.is_counted
        return Item((), label.is_counted, label.depth, known is None or known != label.is_counted, label.count)

    def _of_paragraph(self, paragraph: Element, node_id: str) -> Iterator[Detail]:
        """Yield what stands in a paragraph without being its text."""
        for turn, inset in enumerate(self._insets.get(paragraph, ()), 1):
            if inset.kind == "tracked change":
                yield from self._change(inset, f"{node_id}.{turn}")
            else:
                yield self._inset(inset, f"{node_id}.{turn}")
        if paragraph.find(f".//{COMMENT_REFERENCE}") is not None:
            for mark in paragraph.iter(COMMENT_REFERENCE):
                number = mark.get(ID, "")
                remark = self._remarks.get(number, "")
                about = {"about": self._about[number]} if self._about.get(number) else {}
                facts = {**self._facts.get(number, {}), **about}
                yield Detail(comment_id(number), "comment", remark, mark="comment", facts=facts, source=number)

    def _inset(self, inset: Inset, fallback: str) -> Detail:
        made = Detail(fallback, inset.kind, name=inset.name, mark=inset.kind, source=inset)
        number = _drawing_number(inset.element) if inset.kind in _DRAWN else ""
        if number:
            made.id = f"{inset.kind.replace(' ', '')}-{number}"
        if inset.kind == "text box":
            boxes = [box for box in inset.element.iter(TEXT_BOX) if next(box.iterancestors(FALLBACK), None) is None]
            made.children = [detail for box in boxes[:1] for detail in self._blocks(box)]
        return made

    def _change(self, inset: Inset, fallback: str) -> Iterator[Detail]:
        element = inset.element
        what = _CHANGES.get(str(element.tag), "format")
        number = element.get(ID, "")
        text = ""
        if what == "deletion":
            text = "".join(held.text or "" for held in element.iter(w("delText"), w("t")))
        elif what == "insertion":
            text = "".join(held.text or "" for held in element.iter(w("t")))
        facts = {"change": what, **_who(element)}
        yield Detail(
            f"change-{number}" if number else fallback, "change", text, mark="tracked change", facts=facts,
            is_repeated=True, source=inset,
        )  # fmt: skip

    def _table(self, element: Element) -> Detail:
        rows = [*inside(element, TR)]
        node_id = f"t-{self._ids.of(rows[0])}" if rows else f"t-{self._derived('table', '')}"
        made = Detail(node_id, "table", source=element)
        columns = 0
        for row in rows:
            cells = [*inside(row, TC)]
            columns = max(columns, len(cells))
            line = Detail(f"r-{self._ids.of(row)}", "row", source=row)
            line.children = [
                Detail(f"{line.id}.c{place}", "cell", children=[*self._blocks(cell)], source=cell)
                for place, cell in enumerate(cells, 1)
            ]
            made.children.append(line)
        made.mark = f"table {len(rows)}x{columns}"
        made.facts = {"rows": len(rows), "columns": columns}
        return made

    def _derived(self, kind: str, fact: str) -> str:
        self._turns[kind, fact] += 1
        said = f"{kind}\0{fact}\0{self._turns[kind, fact]}"
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:_DERIVED]

    def _enter(self, story: Story) -> None:
        """Sort what stands in a story by paragraph: a field may go over many of them and is one all the same."""
        self._ids = story.ids
        for inset in outermost(inset for block in story.blocks for inset in block.insets):
            if (
                inset.element.tag == SDT
                and inset.element.getparent() is not None
                and inset.element.find(f".//{P}") is not None
            ):
                self._controls[inset.element] = inset
            elif (paragraph := inset.paragraph) is not None:
                self._insets.setdefault(paragraph, []).append(inset)


def _only_table(held: Sequence[Detail]) -> Detail | None:
    tables = [detail for detail in held if detail.kind == "table"]
    return tables[0] if len(tables) == 1 and all(one is tables[0] or not one.text for one in held) else None


def _drawing_number(element: Element) -> str:
    found = next((inner for inner in element.iter() if element_name(inner) == "docPr"), None)
    return "" if found is None else found.get("id", "")


def _who(element: Element) -> dict[str, str]:
    said = {"author": element.get(w("author"), ""), "at": element.get(w("date"), "")}
    return {name: text for name, text in said.items() if text}
