"""Naming the nodes of a text: where their ids stand in the file, and how others are written there."""

import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Final, TypeAlias, cast

from officeplane.formats.naming.named import NUMBERS_END, Named, digest, hashed, shown_by
from officeplane.formats.part_names import rename_parts
from officeplane.formats.reading.detail import Detail
from officeplane.formats.word.bookmarks import HEADINGS, name_of
from officeplane.formats.word.details import BlocksSource, ParagraphSource
from officeplane.formats.word.document import Word
from officeplane.formats.word.insets import Inset
from officeplane.formats.word.names import (
    COMMENT_REFERENCE,
    ID,
    NAME,
    PARA_ID,
    VAL,
    element_name,
    w,
)
from officeplane.formats.word.stories import Aside
from officeplane.formats.xml import Element

_DRAWN: Final = frozenset(("picture", "chart", "diagram", "shape", "text box"))
_NOTES: Final = {"footnote": w("footnoteReference"), "endnote": w("endnoteReference")}
_REMARKS: Final = (w("commentRangeStart"), w("commentRangeEnd"), COMMENT_REFERENCE)
_ROWS_AND_TEXTS: Final = frozenset(("paragraph", "heading", "item", "row"))
_NOTES_END: Final = 32_768
_SAID_MAX: Final = 2_000

Place: TypeAlias = tuple[Element, str]
"""Where a number stands: an element and its attribute."""


def _paragraph_ids(node: Named, seed: str) -> Iterator[str]:
    """Yield numbers as Word gives them to paragraphs, from 1 up to 2^31."""
    return (f"{1 + int(digest(node, seed, turn), 16) % (2**31 - 1):08x}" for turn in count())


class NamesOfWord:
    """The named nodes of a Word document; those that an id is written for are stamped first, with all others."""

    def __init__(self, document: Word) -> None:
        self._package = document.package
        self._finder = document.finder()
        self._stories = self._finder.stories
        self._reader = document.reader()
        self._references = self._found()
        self.last = 0
        self.top = [*self._nodes()]

    def fresh(self, node: Named, seed: str, taken: Collection[str], last: int) -> str:  # noqa: ARG002 - none is counted
        """Return a number for a node that nothing in its family has, or had."""
        if node.family in {"p", "r"}:
            return next(one for one in _paragraph_ids(node, seed) if one not in taken)
        if node.family == "heading":
            return f"{node.number.partition('-')[0]}-{digest(node, seed)}"
        if isinstance(node.source, Aside):
            return f"{node.family}{hashed(node, seed, ())}"
        # Word takes no more notes than this; where there are so many, it has refused the file already.
        is_note = node.family in _NOTES and len(taken) < _NOTES_END // 2
        return hashed(node, seed, taken, 1, _NOTES_END if is_note else NUMBERS_END)

    def write(self, numbers: Mapping[Named, str], last: Mapping[str, int]) -> None:  # noqa: ARG002 - none is counted
        """Have the file give nodes these numbers."""
        if not numbers:
            return
        for story in self._stories.all():
            self._stories.stamp(story)
        self._remember_headings()
        marks = self._marks_of_headings()
        parts: dict[str, str] = {}
        for node, number in numbers.items():
            match node.source:
                case Aside() as aside:
                    part = aside.story.part
                    parts[part] = posixpath.join(posixpath.dirname(part), f"{number}.xml")
                case list():
                    places = cast("list[Place]", node.source)
                    for element, attribute in places:
                        element.set(attribute, number.upper() if attribute == PARA_ID else number)
                case _:
                    for mark in marks[node.id]:
                        mark.set(NAME, name_of(number))
        for part in self._changed_parts():
            self._package.changed(part)
        rename_parts(self._package, parts)

    def _nodes(self) -> Iterator[Named]:
        for detail in self._reader.tree.by_id.values():
            node = self._node(detail)
            if node is not None:
                yield node
        for aside in self._stories.asides:
            if aside.kind in {"header", "footer"}:
                said = "\n".join(block.text for block in aside.story.blocks)[:_SAID_MAX]
                yield Named(aside.id, aside.kind, aside.id, said, source=aside)

    def _node(self, detail: Detail) -> Named | None:
        kind, number = detail.kind, detail.id.rpartition("-")[2].partition("+")[0]
        if kind in _ROWS_AND_TEXTS:
            source = detail.source
            element = source.element if isinstance(source, ParagraphSource) else source
            said = detail.text if kind != "row" else self._said(detail)
            is_own = element.get(PARA_ID, "").lower() == number
            family = "r" if kind == "row" else "p"
            return Named(detail.id, family, number, said, is_own=is_own, source=[(element, PARA_ID)])
        if kind in {"chapter", "section"}:
            place = self._stories.body.structure.by_id[detail.id]
            openings = self._stories.body.story.blocks[place.begin].openings
            is_sure = any(node_id == detail.id for node_id, _ in openings)
            return Named(
                detail.id, "heading", detail.id, detail.text, is_own=not place.is_derived, is_sure=is_sure
            )  # fmt: skip
        found = self._numbered(detail, number)
        if found is None:
            return None
        said, looks, elements = found
        (first, attribute), *_ = elements
        made = Named(detail.id, kind, first.get(attribute, ""), said, looks, source=elements)
        if kind == "change":
            # A part of a change is another change: who accepts one means all that it was.
            made.like = str
        return made

    def _numbered(self, detail: Detail, number: str) -> tuple[str, str, list[Place]] | None:
        """Return what a node says that the file has a number for, how it looks, and where the number stands."""
        kind, source, facts = detail.kind, detail.source, detail.facts
        if kind in _NOTES and isinstance(source, BlocksSource):
            held = [source.blocks[0].element, *self._references.get((_NOTES[kind], number), ())]
            return self._said(detail), "", [(one, ID) for one in held]
        if kind == "comment" and "+" not in detail.id:
            held = [one for tag in _REMARKS for one in self._references.get((tag, number), ())]
            comment = self._finder.comments.find(detail.id)
            held += [] if comment is None else [comment]
            return detail.text, f"{facts.get('author', '')}\0{facts.get('at', '')}", [(one, ID) for one in held]
        if not isinstance(source, Inset) or detail.id.startswith("p-"):
            return self._control(detail)
        if kind == "change":
            looks = "\0".join(str(facts.get(name, "")) for name in ("change", "author", "at"))
            return detail.text, looks, [(source.element, ID)]
        if kind in _DRAWN:
            about = next((one for one in source.element.iter() if element_name(one) == "docPr"), None)
            return None if about is None else (self._said(detail), self._looks(detail), [(about, "id")])
        return None

    def _control(self, detail: Detail) -> tuple[str, str, list[Place]] | None:
        source = detail.source.element if isinstance(detail.source, Inset) else detail.source
        if not detail.id.startswith("control-") or not isinstance(source, Element):
            return None
        held = source.find(f"{w('sdtPr')}/{w('id')}")
        return None if held is None else (self._said(detail), detail.name, [(held, VAL)])

    def _said(self, detail: Detail) -> str:
        texts = [one.text for one in self._reader.tree.below(detail) if one.text]
        return "\n".join(texts)[:_SAID_MAX]

    def _looks(self, detail: Detail) -> str:
        return f"{detail.name}\0{shown_by(self._reader, detail)}"

    def _found(self) -> dict[tuple[str, str], list[Element]]:
        """Return what refers to notes and comments, by its name and their number."""
        found: dict[tuple[str, str], list[Element]] = {}
        for story in self._stories.all():
            for one in story.root.iter(*_NOTES.values(), *_REMARKS):
                found.setdefault((str(one.tag), one.get(ID, "")), []).append(one)
        return found

    def _remember_headings(self) -> None:
        """Keep the ids of all headings in bookmarks: where one has another, the turns of its twins change."""
        body = self._stories.body
        headings = [place for place in body.structure.by_id.values() if place.is_heading]
        blocks = body.story.blocks
        body.remember([
            replace(one) for one in headings if not any(node == one.id for node, _ in blocks[one.begin].openings)
        ])  # fmt: skip

    def _marks_of_headings(self) -> dict[str, list[Element]]:
        marks: dict[str, list[Element]] = {}
        for block in self._stories.body.story.blocks:
            for node_id, mark in block.openings:
                if node_id.startswith(HEADINGS):
                    marks.setdefault(node_id, []).append(mark)
        return marks

    def _changed_parts(self) -> Iterator[str]:
        yield from (story.part for story in self._stories.all())
        comments = self._finder.comments.part
        if comments is not None:
            yield comments
