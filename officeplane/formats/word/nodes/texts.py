"""Texts of nodes: one paragraph, or all that a cell, a header, a note or a text box holds, says something else."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning, Loss
from officeplane.formats.blocks import Block, Rule, Table
from officeplane.formats.commonmark import written
from officeplane.formats.markdown import TEXTS, read
from officeplane.formats.word.brought import Brought, Numbers
from officeplane.formats.word.content import Contents
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.names import ALTERNATIVES, FALLBACK, SDT, TEXT_BOX, P, w
from officeplane.formats.word.nodes.boxes import copy_boxes
from officeplane.formats.word.nodes.holders import Holder, is_blank
from officeplane.formats.word.nodes.pen import Pen
from officeplane.formats.word.placing import check_open
from officeplane.formats.word.reader import WordReader
from officeplane.formats.xml import Element

_PARAGRAPHS: Final = frozenset(("paragraph", "heading", "item", "chapter", "section"))
_HOLDERS: Final = frozenset(("cell", "header", "footer", "footnote", "endnote", "text box", "content control"))
_DRAWN: Final = (w("drawing"), w("pict"), w("object"), ALTERNATIVES)


class Said(NamedTuple):
    """What an edit of a node's text has done: the node's id now, what was lost, and what content could not bring."""

    id: str
    losses: Sequence[Loss] = ()
    warnings: Sequence[EditWarning] = ()


class NodeTexts:
    """Changes what nodes say."""

    def __init__(self, finder: Finder, numbers: Numbers) -> None:
        self._finder = finder
        self._numbers = numbers

    def write(self, node_id: str, said: str, *, is_plain: bool, keep_format: bool) -> Said:
        """Have a node say something else, in CommonMark or as plain text."""
        found = self._finder.find(node_id)
        if found.kind in _PARAGRAPHS:
            return self._write_paragraph(found, said, is_plain=is_plain, keep_format=keep_format)
        holder = holder_of(found)
        if holder is None:
            raise InvalidEditError(f"{node_id!r} is a {found.kind}: {_instead(found.kind)}")
        return self._write_holder(found, holder, said, is_plain=is_plain, keep_format=keep_format)

    def _write_paragraph(self, found: Found, said: str, *, is_plain: bool, keep_format: bool) -> Said:
        paragraph = found.element
        brought = self._brought(found)
        pen = Pen(self._finder, found.story, self._contents(paragraph), brought)
        block = pen.block(paragraph)
        before = "" if is_blank(block) else written([block])
        warnings: Sequence[EditWarning] = ()
        new: Block | str = said
        if not is_plain:
            asked = read(self._own(found, said), TEXTS)
            brought.look_up(asked.blocks)
            new = _single(asked.blocks, block, found)
            if keep_format and (said.strip() == before or isinstance(new, Rule)):
                return Said(found.id)
            warnings = _new_warnings(asked.warnings, before)
        if keep_format and pen.is_said(paragraph, new):
            return Said(found.id)
        level = pen.level(paragraph)
        self._finder.stories.stamp(found.story)
        if found.place is not None and found.place.is_heading and found.place.is_derived:
            self._finder.stories.body.remember([found.place])
        losses = pen.write(paragraph, new, found.id, keep_format=keep_format)
        warnings = [*warnings, *brought.warnings]
        copy_boxes(paragraph)
        if level == pen.level(paragraph) and not found.story.blocks[found.begin].is_landmark:
            found.story.take_note(found.begin, {paragraph, *paragraph.iterancestors(P)})
            return Said(found.id, losses, warnings)
        found.story.touch(found.begin)
        place = self._finder.stories.body.structure.at(found.begin) if found.story is self._body else None
        is_place = place is not None and place.is_heading and place.begin == found.begin
        if is_place and place is not None and found.story.blocks[found.begin].paragraph is paragraph:
            return Said(place.id, losses, warnings)
        return Said(f"p-{found.story.ids.of(paragraph)}", losses, warnings)

    def _write_holder(self, found: Found, holder: Element, said: str, *, is_plain: bool, keep_format: bool) -> Said:
        reader = WordReader(self._finder.package, self._finder.stories, self._finder.comments)
        brought = self._brought(found)
        pen = Pen(self._finder, found.story, reader.contents, brought)
        held = Holder(holder, pen, brought)
        warnings: Sequence[EditWarning] = ()
        new: Sequence[Block | str]
        if is_plain:
            new = said.split("\n")
            if keep_format and held.says_lines(new):
                return Said(found.id)
        else:
            detail = reader.tree.by_id.get(found.id)
            before = "" if detail is None else reader.content(detail) or ""
            if keep_format and said.strip() == before.strip():
                return Said(found.id)
            asked = read(said, TEXTS)
            brought.look_up(asked.blocks)
            new = asked.blocks
            warnings = _new_warnings(asked.warnings, before)
        self._finder.stories.stamp(found.story)
        if found.kind in {"header", "footer"}:
            # What holds it may be another root, now that ids are declared in it.
            held = Holder(found.story.container, pen, brought)
        losses = held.write(new, found.id, keep_format=keep_format)
        warnings = [*warnings, *brought.warnings]
        copy_boxes(holder)
        if found.kind in {"header", "footer"}:
            found.story.reread({block.element for block in found.story.blocks})
        else:
            found.story.touch(found.begin)
        return Said(found.id, losses, warnings)

    def _own(self, found: Found, said: str) -> str:
        """Return the heading of content that says of a chapter or a section all that it has below it, too."""
        if found.place is None or not found.place.is_heading or "\n\n" not in said.strip():
            return said
        reader = WordReader(self._finder.package, self._finder.stories, self._finder.comments)
        all_of_it = reader.content(reader.tree.by_id[found.id]) or ""
        heading, _, below = said.strip().partition("\n\n")
        return heading if below == all_of_it.strip().partition("\n\n")[2] else said

    def _contents(self, paragraph: Element) -> Contents:
        """Return what reads a paragraph; pictures have names in the tree of all details alone."""
        if next(paragraph.iter(*_DRAWN), None) is None:
            return Contents(self._finder.package, self._finder.stories, {})
        return WordReader(self._finder.package, self._finder.stories, self._finder.comments).contents

    def _brought(self, found: Found) -> Brought:
        def check() -> None:
            if found.kind == "text box":
                raise InvalidEditError(
                    f"{found.id!r} is a text box, which takes no pictures and notes: put them beside it"
                )
            check_open(found, found.element, "into")

        return Brought(self._finder, found.story, self._numbers, found.element, check)

    @property
    def _body(self) -> object:
        return self._finder.stories.body.story


def holder_of(found: Found) -> Element | None:
    """Return the element below which the paragraphs of a node lie that may hold many; None when it is no such node."""
    if found.kind not in _HOLDERS:
        return None
    if found.kind in {"header", "footer"}:
        return found.story.container
    if found.kind == "text box":
        return next(_boxes(found.element), None)
    if found.element.tag == SDT:
        content = found.element.find(w("sdtContent"))
        return content if content is not None and content.find(P) is not None else None
    # The mark of a note in the text is a note, too: what it says is a node of its own.
    return found.element if found.element.tag in {w("tc"), w("footnote"), w("endnote")} else None


def _boxes(drawing: Element) -> Iterator[Element]:
    return (box for box in drawing.iter(TEXT_BOX) if next(box.iterancestors(FALLBACK), None) is None)


def _single(blocks: Sequence[Block], before: Block, found: Found) -> Block | str:
    if not blocks:
        return ""
    if len(blocks) > 1:
        raise InvalidEditError(
            f"the content is {len(blocks)} blocks and {found.id!r} is one {found.kind}: give one, and the others to "
            "insert_content"
        )
    if isinstance(blocks[0], Table) or (isinstance(blocks[0], Rule) and not isinstance(before, Rule)):
        what = "table" if isinstance(blocks[0], Table) else "rule"
        raise InvalidEditError(
            f"the content is a {what} and {found.id!r} is a {found.kind}: put the {what} beside it with insert_content"
        )
    return blocks[0]


def _new_warnings(warnings: Sequence[EditWarning], before: str) -> Sequence[EditWarning]:
    """Return what content cannot bring, without what it says only because that was read."""
    return [one for one in warnings if one not in read(before, TEXTS).warnings] if warnings else ()


def _instead(kind: str) -> str:
    match kind:
        case "page":
            return "edit_page gives it other content; or name one of its paragraphs"
        case "table" | "row":
            return "name one of its cells"
        case "footnotes" | "endnotes":
            return "name one of the notes"
        case "footnote" | "endnote":
            return "that is the mark of a note in the text; what the note says is the node below the document's notes"
        case _:
            return "it has no text of its own; name a paragraph, a heading, an item, a cell, a note or a text box"
