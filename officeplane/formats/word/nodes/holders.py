"""Holders: a cell, a header, a note or a text box says something else, paragraph by paragraph.

What it holds and what it is to say are put side by side. A paragraph that says the
same stays as it is, one in whose place another comes is rewritten, further ones come
and go; pictures and empty lines stay unless what stood there goes.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from officeplane.domain.warning import Loss
from officeplane.formats.blocks import Block, Item, Paragraph, Span, Table
from officeplane.formats.commonmark import written
from officeplane.formats.markdown import TEXTS, read
from officeplane.formats.word.brought import Brought
from officeplane.formats.word.insets import insets_of, outermost
from officeplane.formats.word.names import SDT, TBL, TC, P, element, w
from officeplane.formats.word.nodes.pen import Pen, line_of
from officeplane.formats.word.preserved_marks import check_fields, marks_to_preserve
from officeplane.formats.word.segments import text_of
from officeplane.formats.xml import Element

_WRAPPERS: Final = frozenset((SDT, w("sdtContent"), w("customXml"), w("ins"), w("moveTo")))


class Holder:
    """The paragraphs and tables of one element, with the pen of its story."""

    def __init__(self, element: Element, pen: Pen, brought: Brought) -> None:
        self._element = element
        self._pen = pen
        self._brought = brought

    def says_lines(self, lines: Sequence[Block | str]) -> bool:
        """Tell whether its paragraphs are these plain lines already."""
        held = [*_held(self._element)]
        return all(one.tag == P for one in held) and [text_of(one) for one in held] == list(lines)

    def write(self, new: Sequence[Block | str], node_id: str, *, keep_format: bool) -> list[Loss]:
        """Have it say something else; return what is lost with what it said."""
        is_plain = bool(new) and isinstance(new[0], str)
        olds = [one for one in _held(self._element) if is_plain or not self._is_blank(one)]
        keys = [self._key_of(one, is_plain=is_plain) for one in olds]
        matcher = SequenceMatcher(None, keys, [_key(block) for block in new], autojunk=False)
        before = [*outermost(insets_of(self._element))]
        steps = matcher.get_opcodes()
        self._brought.let_go(one for tag, i1, i2, *_ in steps if tag != "equal" for one in olds[i1:i2])
        placed: Element | None = None
        for tag, i1, i2, j1, j2 in steps:
            if tag == "equal":
                placed = olds[i2 - 1]
                if not keep_format:
                    for one, same in zip(olds[i1:i2], new[j1:j2], strict=True):
                        if one.tag == P:
                            self._pen.write(one, same, node_id, keep_format=False)
                continue
            for place in range(max(i2 - i1, j2 - j1)):
                old = olds[i1 + place] if i1 + place < i2 else None
                block = new[j1 + place] if j1 + place < j2 else None
                if block is None and old is not None:
                    self._remove(old, node_id)
                elif block is not None and old is not None and old.tag == P and not isinstance(block, Table):
                    self._pen.write(old, block, node_id, keep_format=keep_format)
                    placed = old
                elif block is not None:
                    like = old if old is not None else placed
                    made = self._made(block, like, olds, keep_format=keep_format)
                    self._put(made, placed, old, olds[i2] if i2 < len(olds) else None)
                    placed = made
                    if old is not None:
                        self._remove(old, node_id)
        self._settle()
        left = {inset.element for inset in insets_of(self._element)}
        return [Loss(one.kind, node_id, one.name) for one in before if one.element not in left]

    def _key_of(self, held: Element, *, is_plain: bool) -> object:
        if held.tag == TBL:
            return _key(_again(self._pen.contents.of_table(held)))
        return text_of(held) if is_plain else _key(_again(self._pen.block(held)))

    def _is_blank(self, held: Element) -> bool:
        return held.tag == P and is_blank(self._pen.block(held))

    def _made(self, block: Block | str, like: Element | None, olds: Sequence[Element], *, keep_format: bool) -> Element:
        model = like if like is not None and like.tag == P else next((one for one in olds if one.tag == P), None)
        if model is None:
            model = next((one for one in _held(self._element) if one.tag == P), None)
        if not isinstance(block, Table) and keep_format and model is not None and self._pen.is_alike(model, block):
            return self._pen.made_like(model, block)
        return self._pen.writer.elements([Paragraph((Span(block),)) if isinstance(block, str) else block])[0]

    def _put(self, made: Element, placed: Element | None, old: Element | None, following: Element | None) -> None:
        if old is not None:
            old.addprevious(made)
        elif placed is not None:
            placed.addnext(made)
        elif following is not None:
            following.addprevious(made)
        else:
            blank = next((one for one in _held(self._element) if one.tag == P), None)
            if blank is None:
                self._element.append(made)
                return
            blank.addprevious(made)
            if not insets_of(blank) and not text_of(blank):
                self._remove(blank, "")

    def _remove(self, held: Element, node_id: str) -> None:
        check_fields([held])
        parent = held.getparent()
        if parent is None:
            return
        others = [one for one in _held(self._element) if one is not held and one.tag == P]
        if held.tag == P and not any(one.getparent() is parent for one in others):
            # A control, or a cell, has one paragraph at least.
            self._pen.write(held, "", node_id, keep_format=True)
            return
        preserved = marks_to_preserve([held])
        if others and (preserved.marks or preserved.references):
            following = next((one for one in held.itersiblings() if one in others), None)
            preserved.settle_in(following if following is not None else others[-1], at_end=following is None)
        parent.remove(held)

    def _settle(self) -> None:
        """Have no two tables touch, and a paragraph at the end."""
        for held in [*_held(self._element)]:
            following = held.getnext()
            if held.tag == TBL and (following is None or following.tag == TBL):
                held.addnext(element("p"))
        if not len(self._element) or (self._element.tag == TC and self._element[-1].tag != P):
            self._element.append(element("p"))


def is_blank(block: Block) -> bool:
    """Tell whether reading passes over a paragraph because it says nothing."""
    return isinstance(block, Paragraph) and not any(span.text.strip() or span.link for span in block.line)


def _held(parent: Element) -> Iterator[Element]:
    for inner in parent:
        if inner.tag in {P, TBL}:
            yield inner
        elif inner.tag in _WRAPPERS:
            yield from _held(inner)


def _again(block: Block) -> Block:
    """Return a block as it is read again: only so can it be compared with what somebody has written."""
    blocks = read(written([block]), TEXTS).blocks
    return blocks[0] if len(blocks) == 1 else block


def _key(block: Block | str) -> object:
    if isinstance(block, str):
        return block
    if isinstance(block, Item):
        return "item", block.ordered, block.line
    return type(block).__name__, block if isinstance(block, Table) else line_of(block), getattr(block, "level", 0)
