"""Merging a text: what an upload has changed of its paragraphs and tables is done to the head's.

Nothing is taken on trust: the text that comes of it is compared once more with what was to come of it. What
cannot be carried over, or would become something else on the way, is in conflict.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn

from officeplane.domain.document import InvalidEditError
from officeplane.formats.merging.carrying import CannotCarryError
from officeplane.formats.merging.three_ways import Piece, Plan, merged, states_of
from officeplane.formats.merging.unit import Conflict, MergeConflictError, Merged, Unit
from officeplane.formats.word.block import Block
from officeplane.formats.word.document import Word
from officeplane.formats.word.merging.beside import warnings_of
from officeplane.formats.word.merging.carrying import Carrying
from officeplane.formats.word.merging.context import Context
from officeplane.formats.word.merging.units import units_of
from officeplane.formats.word.names import P
from officeplane.formats.word.nodes.moving import check_whole, settle
from officeplane.formats.word.styles import CHAPTER_LEVEL, SECTION_LEVEL
from officeplane.formats.xml import Element, take_off

_KINDS: Final = {CHAPTER_LEVEL: "chapter", SECTION_LEVEL: "section"}


def merge(base: Word, upload: Word, head: Word, fresh_id: Callable[[str], str], maker: str) -> Merged:
    """Do to the head what an upload has changed of the base; raise `MergeConflictError` if that cannot be."""
    was, now, here = Context(base), Context(upload), Context(head)
    was.call_lists_as()
    for one in (now, here):
        one.call_lists_as(was)
    before, after, at_head = units_of(was), units_of(now), units_of(here)
    states = states_of({one.id: one for one in before}, at_head, after, [base.package, head.package, upload.package])
    plan = merged(before, at_head, after, states)
    if plan.conflicts:
        raise MergeConflictError(plan.conflicts)
    made = Merged(warnings=[*warnings_of(was, now, is_exact=states.upload_is_exact)])
    if plan.is_nothing:
        return made
    applying = _Applying(now, here, fresh_id)
    applying.apply(plan)
    head.name(maker)
    ids = _checked(plan, head, applying.lists, is_exact=states.upload_is_exact)
    for piece, node_id in zip(plan.pieces, ids, strict=True):
        if piece.head is None:
            made.added.append(node_id)
        elif piece.upload is not None:
            made.changed.append(node_id)
        if piece.head is not None and piece.is_moved:
            made.moved.append(node_id)
    made.removed = [one.id for one in plan.removed]
    return made


class _Applying:
    def __init__(self, upload: Context, head: Context, fresh_id: Callable[[str], str]) -> None:
        self._head = head
        self._body = head.stories.body_to_change()
        self._fresh_id = fresh_id
        self._known: set[Element] = set()
        self._carrying = Carrying(upload, head, fresh_id)

    @property
    def lists(self) -> Mapping[str, str]:
        """What the head's lists are called, those that were brought along as the upload's are."""
        return {**self._head.lists, **self._carrying.brought}

    def apply(self, plan: Plan) -> None:
        """Do to the head what was planned."""
        container = self._body.story.container
        self._known = {*container}
        replaced = [one for one in plan.pieces if one.head is not None and one.upload is not None]
        self._remember(replaced)
        changed: set[Element] = set()
        for piece in replaced:
            changed |= self._replace(piece)
        if changed:
            self._body.story.reread(changed)
        for unit in plan.removed:
            self._remove(unit)
        if any(one.is_moved or one.head is None for one in plan.pieces):
            self._put(plan.pieces)
        # Tables that have touched for a moment have been kept apart.
        surplus = [one for one in container if one not in self._known and one.tag == P and not len(one)]
        for one in surplus:
            container.remove(one)
        settle(container, is_text=True)
        self._body.story.reread(())

    def _remember(self, pieces: Sequence[Piece]) -> None:
        """Keep the ids of headings that will say something else."""
        elements = {one for piece in pieces if piece.head is not None for one in _elements(piece.head)}
        blocks = self._body.story.blocks
        places = [one for one in self._body.structure.by_id.values() if one.is_heading and one.is_derived]
        self._body.remember([one for one in places if blocks[one.begin].element in elements])

    def _replace(self, piece: Piece) -> set[Element]:
        assert piece.head is not None  # noqa: S101 - it replaces something
        assert piece.upload is not None  # noqa: S101 - and is replaced by something
        before = _elements(piece.head)
        copies = self._carried(piece.upload, before)
        holder = before[0].getparent()
        assert holder is not None  # noqa: S101 - it stands in the text
        at = holder.index(before[0])
        for one in before:
            holder.remove(one)
        holder[at:at] = copies
        _elements(piece.head)[:] = copies
        return set(copies)

    def _carried(self, unit: Unit, before: Sequence[Element]) -> list[Element]:
        try:
            copies = self._carrying.carried(_elements(unit), before)
        except CannotCarryError as error:
            raise MergeConflictError([Conflict(unit.id, None, None, unit.said, str(error))]) from None
        self._known |= {*copies}
        return copies

    def _remove(self, unit: Unit) -> None:
        elements = _elements(unit)
        container = self._body.story.container
        try:
            self._body.take_out(container.index(elements[0]), container.index(elements[-1]) + 1)
        except InvalidEditError as error:
            raise MergeConflictError([Conflict(unit.id, None, unit.said, None, str(error))]) from None

    def _put(self, pieces: Sequence[Piece]) -> None:
        """Put what is new and what has moved behind the piece before it."""
        last: Element | None = None
        for piece in pieces:
            if piece.head is None:
                assert piece.upload is not None  # noqa: S101 - it is the upload's then
                last = self._insert(self._carried(piece.upload, ()), last)
            elif piece.is_moved:
                last = self._move(piece.head, last)
            else:
                last = _elements(piece.head)[-1]

    def _insert(self, copies: list[Element], last: Element | None) -> Element:
        levels = [(one, Block(one, self._head.styles).level) for one in copies if one.tag == P]
        headings = [(one, self._fresh_id(_KINDS[level])) for one, level in levels if level in _KINDS]
        self._body.insert(self._behind(last), copies, headings)
        return copies[-1]

    def _move(self, unit: Unit, last: Element | None) -> Element:
        elements = _elements(unit)
        story = self._body.story
        try:
            check_whole(elements, unit.id)
        except InvalidEditError as error:
            raise MergeConflictError([Conflict(unit.id, None, unit.said, unit.said, str(error))]) from None
        places = [one for one in self._body.structure.by_id.values() if one.is_heading and one.is_derived]
        self._body.remember([one for one in places if story.blocks[one.begin].element in elements])
        anchor = story.container[self._behind(last)] if self._behind(last) < len(story.container) else None
        for one in elements:
            take_off(one)
            if anchor is None:
                story.container.append(one)
            else:
                anchor.addprevious(one)
        settle(story.container, is_text=True)
        story.reread(set(elements))
        return elements[-1]

    def _behind(self, last: Element | None) -> int:
        container = self._body.story.container
        return 0 if last is None else container.index(last) + 1


def _elements(unit: Unit) -> list[Element]:
    held: list[Element] = unit.source
    return held


def _checked(plan: Plan, head: Word, lists: Mapping[str, str], *, is_exact: bool) -> list[str]:
    """Return the ids of what has come of the head, if it is what was to come of it.

    What is blank may have come between tables.
    """
    context = Context(head)
    context.lists = lists
    made = iter(units_of(context))
    ids: list[str] = []
    for piece in plan.pieces:
        expected = piece.result
        exactly = piece.upload is None or is_exact
        for unit in made:
            if (unit.exactly == expected.exactly) if exactly else (unit.roughly == expected.roughly):
                ids.append(unit.id)
                break
            if unit.said.strip():
                _refuse(expected)
        else:
            _refuse(expected)
    if any(unit.said.strip() for unit in made):
        _refuse(plan.pieces[-1].result)
    return ids


def _refuse(unit: Unit) -> NoReturn:
    detail = "it would not be the same in the document as it is now: styles or lists that it uses are others there"
    raise MergeConflictError([Conflict(unit.id, None, None, unit.said, detail)])
