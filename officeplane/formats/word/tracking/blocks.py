"""Blocks: paragraphs, tables and rows that came or went are marked, and what went is put back where it was.

Each stretch between blocks that stayed is looked at by itself. The end of a paragraph is
marked with it, so that its neighbours join when the change is decided. The last paragraph
before a table or the end of a cell has nothing to join: there the paragraph that stays or
comes in its place takes that part, as when somebody types in Word.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.bookmarks import RANGE_MARKS, node_of
from officeplane.formats.word.names import (
    BOOKMARK_START,
    FALLBACK,
    ID,
    SDT,
    SECT_PR,
    TBL,
    TEXT_BOX,
    P,
    element,
    element_name,
    w,
)
from officeplane.formats.word.nodes.boxes import copy_boxes
from officeplane.formats.word.tracking.ledger import Ledger
from officeplane.formats.word.tracking.lines import delete_line, deleted, insert_line, inserted, track_line, write_line
from officeplane.formats.word.tracking.looks import section_of, take_form, track_form
from officeplane.formats.word.tracking.order import stayed
from officeplane.formats.word.tracking.pieces import pieces_of
from officeplane.formats.word.tracking.tables import delete_table, insert_table, track_table
from officeplane.formats.xml import Element

_SILENT: Final = RANGE_MARKS | {w("proofErr")}
_BEGINNINGS: Final = frozenset(mark for mark in RANGE_MARKS if mark.endswith("Start"))
_PROPERTIES: Final = frozenset((w("tcPr"), SECT_PR, w("sdtPr")))
_NOTES: Final = frozenset((w("footnote"), w("endnote")))
_CONTENT: Final = w("sdtContent")


@dataclass(frozen=True, slots=True)
class Gap:
    """What went and what came between two blocks that stayed, in the order of the file."""

    before: Element | None
    changed: list[Element]
    following: Element | None


def track_blocks(ledger: Ledger, now: Element, was: Element) -> None:
    """Mark what changed in what holds paragraphs and tables."""
    new = [one for one in now if _is_block(one)]
    old = [one for one in was if _is_block(one)]
    kept = stayed([ledger.twins.get(one) for one in new], old)
    pairs = [(new[at], old[place]) for at, place in kept]
    for gap in _gaps(ledger, now, was, pairs):
        _settle(ledger, gap)
    for one, twin in pairs:
        if not ledger.is_same(one, twin):
            _track(ledger, one, twin)


def _track(ledger: Ledger, now: Element, was: Element) -> None:
    if now.tag == P:
        track_paragraph(ledger, now, was)
    elif now.tag == TBL:
        track_table(ledger, now, was, track_blocks)
    elif now.tag == SDT:
        content, before = now.find(_CONTENT), was.find(_CONTENT)
        if content is not None and before is not None:
            track_blocks(ledger, content, before)
    elif now.tag in _NOTES:
        track_blocks(ledger, now, was)


def track_paragraph(ledger: Ledger, now: Element, was: Element) -> None:
    """Mark what changed in a paragraph, and in its text boxes."""
    boxes = [box for box in now.iter(TEXT_BOX) if next(box.iterancestors(FALLBACK), None) is None]
    for box in boxes:
        twin = ledger.twins.get(box)
        if twin is not None and not ledger.is_same(box, twin):
            track_blocks(ledger, box, twin)
    track_line(ledger.pencil, now, was)
    track_form(ledger.pencil, now, was)
    for box in boxes:
        copy_boxes(box)


def _gaps(ledger: Ledger, now: Element, was: Element, pairs: Sequence[tuple[Element, Element]]) -> list[Gap]:
    """Put back what went; return the stretches in which anything came or went."""
    gaps: list[Gap] = []
    ends: list[tuple[Element | None, Element | None]] = [(None, None), *pairs, (None, None)]
    for (before, old_before), (after, old_after) in pairwise(ends):
        new, old = _between(now, before, after), _between(was, old_before, old_after)
        gone = [one for one in old if _is_block(one)]
        come = [one for one in new if _is_block(one)]
        if not gone and not come:
            continue
        for one in come:
            if one in ledger.twins:
                ledger.renew(one)
        if gone:
            _put_back(ledger, now, before, new, old)
        changed = [one for one in _between(now, before, after) if _is_block(one)]
        gaps.append(Gap(before, changed, after))
    return gaps


def _between(holder: Element, before: Element | None, after: Element | None) -> list[Element]:
    begin = 0 if before is None else holder.index(before) + 1
    end = len(holder) if after is None else holder.index(after)
    return [one for one in holder[begin:end] if one.tag not in _PROPERTIES]


def _put_back(ledger: Ledger, now: Element, before: Element | None, new: list[Element], old: list[Element]) -> None:
    """Put back what went, and the marks between, in the order in which they were."""
    there = {(str(one.tag), one.get(ID)): one for one in new if one.tag in _SILENT}
    passed = _marks_before(ledger, new, old)
    cursor = passed[-1] if passed else before
    table = next((one for one in new if _is_block(one)), None)
    if table is not None and table.tag == TBL and all(_is_plain(one) for one in old):
        # The end of a paragraph that goes has nothing to join where a table follows.
        cursor = table
    for one in old:
        known = there.get((str(one.tag), one.get(ID)))
        if known is not None:
            cursor = cursor if known in passed else known
            continue
        if one.tag == w("proofErr"):
            continue
        if cursor is None:
            now.insert(sum(inner.tag in _PROPERTIES and inner.tag != SECT_PR for inner in now), one)
        else:
            cursor.addnext(one)
        ledger.note_back(one, passed)
        if one.getparent() is not None:
            # The mark of a page that has another one now does not stay.
            cursor = one


def _is_plain(one: Element) -> bool:
    """Tell whether a block is a paragraph in which others have marked nothing, or is none."""
    return one.tag in _SILENT or (
        one.tag == P and all(mark.tag == BOOKMARK_START and node_of(mark) for mark in one.iter(*_BEGINNINGS))
    )


def _marks_before(ledger: Ledger, new: list[Element], old: list[Element]) -> list[Element]:
    """Return the marks at the beginning of a gap behind which what went has its place: its page begins with the last.

    The edit has marked that page. What was written anew is in the place of what went, whichever pages end before it;
    where only something goes or moves, the next page may begin behind it.
    """
    known_before = {(one.tag, one.get(ID)) for one in old}
    leading = list(takewhile(lambda one: not _is_block(one), new))
    begins = [
        one.tag == BOOKMARK_START and node_of(one) is not None and (one.tag, one.get(ID)) not in known_before
        for one in leading
    ]
    is_written_anew = len(leading) < len(new) and not any(one in ledger.twins for one in new)
    if is_written_anew and True in begins:
        return leading[: len(begins) - begins[::-1].index(True)]
    return [one for one, _ in takewhile(lambda pair: pair[1], zip(leading, begins, strict=True))]


def _settle(ledger: Ledger, gap: Gap) -> None:
    """Mark the blocks of a gap as what they are."""
    changed = list(gap.changed)
    ends_open = gap.following is None or gap.following.tag != P
    last = changed[-1]
    whole: Element | None = None
    if ends_open and last.tag == P:
        whole = last
        other = _other_kind(ledger, changed, last)
        if other is not None:
            changed.remove(other)
            _join(ledger, last, other)
        elif gap.before is not None and gap.before.tag == P:
            _shift(ledger, gap.before, last)
        elif gap.following is None and gap.before is None:
            # The last paragraph of a text stays, if only to say nothing.
            (delete_line if last in ledger.back else insert_line)(ledger.pencil, last)
        else:
            whole = None
    for one in changed:
        if one is not whole:
            _mark(ledger, one)


def _other_kind(ledger: Ledger, changed: Sequence[Element], last: Element) -> Element | None:
    """Return the last paragraph that came if the last of all went, or that went if it came."""
    is_back = last in ledger.back
    return next((one for one in reversed(changed) if one.tag == P and (one in ledger.back) != is_back), None)


def _join(ledger: Ledger, last: Element, other: Element) -> None:
    """Have one paragraph be what went and what came: the end of neither can be marked."""
    pencil = ledger.pencil
    gone, come = (last, other) if last in ledger.back else (other, last)
    _check_section(gone, come)
    line = deleted(pencil, pieces_of(gone)) + inserted(pieces_of(come))
    was = deepcopy(gone)
    if last is gone:
        take_form(last, come)
    write_line(pencil, last, line)
    track_form(pencil, last, was)
    parent = other.getparent()
    if parent is not None:
        parent.remove(other)
    ledger.is_now(come, last, gone)


def _shift(ledger: Ledger, before: Element, last: Element) -> None:
    """Have the end of the paragraph before be what came or went, and the last one have its form."""
    pencil = ledger.pencil
    is_back = last in ledger.back
    _check_section(last, before)
    if section_of(before):
        raise InvalidEditError(_SECTION)
    kept = ledger.twins.get(before, before)
    if is_back:
        was = deepcopy(last)
        delete_line(pencil, last)
        take_form(last, before)
    else:
        was = kept
        insert_line(pencil, last)
        if not [piece for piece in pieces_of(last) if not piece.is_silent]:
            # An empty one, too, is seen to be what came, rather than the one before it.
            mark = pencil.mark("ins")
            mark.append(element("r"))
            last.append(mark)
    track_form(pencil, last, was)
    pencil.mark_end(before, "del" if is_back else "ins")


def _mark(ledger: Ledger, one: Element) -> None:
    pencil, is_back = ledger.pencil, one in ledger.back
    if one.tag == TBL:
        (delete_table if is_back else insert_table)(ledger, one)
        return
    if one.tag != P:
        what = "content control" if one.tag == SDT else element_name(one)
        deed = "deleted" if is_back else "inserted"
        raise InvalidEditError(f"{_a(what)} cannot be {deed} as a tracked change: use changeMode direct")
    if section_of(one):
        raise InvalidEditError(_SECTION)
    if not is_back:
        insert_line(pencil, one)
        pencil.mark_end(one, "ins")
        return
    delete_line(pencil, one)
    end = one.find(f"{w('pPr')}/{w('rPr')}/{w('ins')}")
    if end is not None and pencil.is_own(end) and not [piece for piece in pieces_of(one) if not piece.is_silent]:
        # Whoever takes back what they had suggested leaves nothing behind.
        ledger.forget(one)
        return
    pencil.mark_end(one, "del")


def _a(what: str) -> str:
    return f"{'an' if what[:1] in 'aeio' else 'a'} {what}"


def _check_section(one: Element, other: Element) -> None:
    if section_of(one) != section_of(other):
        raise InvalidEditError(_SECTION)


def _is_block(one: Element) -> bool:
    return isinstance(one.tag, str) and one.tag not in _SILENT and one.tag not in _PROPERTIES


_SECTION: Final = (
    "the end of a section, which holds the paper of what is before it, cannot come or go as a tracked change: use "
    "changeMode direct"
)
