"""Marks: bookmarks and comments that others have tied to a paragraph stay with it when an upload changes it."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Final

from officeplane.formats.word.bookmarks import RANGE_MARKS, free_number, node_of, number_of
from officeplane.formats.word.names import (
    BOOKMARK_END,
    BOOKMARK_START,
    COMMENT_REFERENCE,
    ID,
    NAME,
    P_PR,
    P,
    R,
    element,
    w,
)  # fmt: skip
from officeplane.formats.word.nodes.rewriting import drop_empty
from officeplane.formats.xml import Element

_COMMENT: Final = (w("commentRangeStart"), w("commentRangeEnd"), COMMENT_REFERENCE)


def keep_marks(copies: Sequence[Element], before: Sequence[Element], root: Element, *, keep_ids: bool) -> None:
    """Have copies hold the marks of what they come in place of, and new bookmarks whose names are free.

    Those that the copies have, too, stand where these have them, the others around all of it. `keep_ids` unless what
    the bookmarks of nodes are about has become something else.
    """
    held = [one for top in before for one in top.iter(*RANGE_MARKS, COMMENT_REFERENCE)]
    wanted = [one for one in held if keep_ids or one.tag != BOOKMARK_START or node_of(one) is None]
    dropped = {one.get(ID) for one in held if one not in wanted}
    wanted = [one for one in wanted if one.tag != BOOKMARK_END or one.get(ID) not in dropped]
    kept = {*_bookmarks(copies, wanted, root), *_comments(copies, wanted)}
    first = next((one for top in copies for one in top.iter(P)), None)
    last = next((one for top in reversed(copies) for one in reversed([*top.iter(P)])), None)
    if first is None or last is None:
        return
    at = 1 if first.find(P_PR) is not None else 0
    for one in reversed([one for one in wanted if one not in kept and str(one.tag).endswith("Start")]):
        first.insert(at, _copy(one))
    for one in (one for one in wanted if one not in kept and not str(one.tag).endswith("Start")):
        if one.tag == COMMENT_REFERENCE:
            run = element("r")
            run.append(_copy(one))
            last.append(run)
        else:
            last.append(_copy(one))


def _bookmarks(copies: Sequence[Element], wanted: Sequence[Element], root: Element) -> Iterator[Element]:
    """Number the bookmarks of copies; yield those that they have in common with what was there."""
    starts = {one.get(NAME): one for one in wanted if one.tag == BOOKMARK_START}
    ends = {one.get(ID): one for one in wanted if one.tag == BOOKMARK_END}
    elsewhere = {one.get(NAME) for one in root.iter(BOOKMARK_START)}
    highest = max((number_of(one) for one in root.iter(*RANGE_MARKS)), default=-1)
    closing = {one.get(ID): one for top in copies for one in top.iter(BOOKMARK_END)}
    named: set[Element] = set()
    for mark in [one for top in copies for one in top.iter(BOOKMARK_START)]:
        end = closing.get(mark.get(ID))
        known = starts.get(mark.get(NAME))
        known_end = None if known is None else ends.get(known.get(ID))
        if known is not None and known_end is not None and end is not None:
            number = known.get(ID, "")
            yield from (known, known_end)
        elif known is None and end is not None and mark.get(NAME) not in elsewhere and node_of(mark) is None:
            number = str(highest := free_number(highest, root))
        else:
            continue
        named |= {mark, end}
        mark.set(ID, number)
        end.set(ID, number)
    for mark in [one for top in copies for one in top.iter(BOOKMARK_START, BOOKMARK_END)]:
        if mark not in named:
            _remove(mark)


def _comments(copies: Sequence[Element], wanted: Sequence[Element]) -> Iterator[Element]:
    """Take those comments out of copies that are none of what was there; yield what they have in common."""
    known = {(one.tag, one.get(ID)): one for one in wanted}
    for mark in [one for top in copies for one in top.iter(*_COMMENT)]:
        found = known.get((mark.tag, mark.get(ID)))
        if found is not None:
            yield found
        else:
            _remove(mark)


def _remove(mark: Element) -> None:
    parent = mark.getparent()
    if parent is not None:
        top = next((one for one in mark.iterancestors(P)), parent)
        parent.remove(mark)
        if parent.tag == R:
            drop_empty(parent, top)


def _copy(mark: Element) -> Element:
    copy = deepcopy(mark)
    copy.tail = None
    return copy
