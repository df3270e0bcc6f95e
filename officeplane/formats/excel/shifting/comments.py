"""Comments: what they say of a cell goes with it, and so do the boxes that older programs show them in."""

from collections.abc import Callable, Iterator
from typing import Final

from officeplane.formats.excel.cells.addresses import address
from officeplane.formats.excel.comments.remarks import OF_THREAD, author_of, authors_in
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.shifting.formulas import FormulaShift
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.xml import Element

_COMMENTS: Final = ("{*}comment", "{*}threadedComment", "{*}singleXmlCell")
_DATA: Final = "{*}ClientData"
_FORMULAS: Final = ("{*}FmlaLink", "{*}FmlaRange", "{*}FmlaGroup", "{*}FmlaTxbx", "{*}FmlaPict")


def shift_comments(root: Element, shift: Shift) -> Iterator[str]:
    """Move comments, and what binds single cells to XML, with their cells; yield what those said that are gone."""
    authors = authors_in(root)
    for comment in list(root.iter(*_COMMENTS)):
        name = "ref" if comment.get("ref") is not None else "r"
        known = address(comment.get(name, ""))
        if known is None:
            continue
        after = shift.cell(known)
        if after is not None:
            comment.set(name, str(after))
            continue
        if not author_of(comment, authors).startswith(OF_THREAD):
            # What shows a thread to older programs says what the thread does.
            yield "".join(
                each.text or "" for each in (*comment.iter("{*}t"), *comment.iter("{*}text")) if not len(each)
            )
        if (parent := comment.getparent()) is not None:
            parent.remove(comment)


def shift_boxes(root: Element, shift: Shift) -> None:
    """Move the boxes of comments with their cells, and other controls with those that they stand on."""
    for data in list(root.iter(_DATA)):
        shape = data.getparent()
        row, column, anchor = data.find("{*}Row"), data.find("{*}Column"), data.find("{*}Anchor")
        along = row if shift.is_of_rows else column
        if data.get("ObjectType") == "Note" and along is not None:
            before = whole(along.text, 0)
            seat = shift.point(before + 1)
            if seat is None:
                if shape is not None and (parent := shape.getparent()) is not None:
                    parent.remove(shape)
                continue
            along.text = str(seat - 1)
            _move(anchor, _by(seat - 1 - before), shift)
        else:
            _move(anchor, lambda number: shift.nearest(number + 1) - 1, shift)


def _by(distance: int) -> Callable[[int], int]:
    return lambda number: number + distance


def follow_controls(formulas: FormulaShift, root: Element, *, is_own: bool) -> Iterator[tuple[bool, bool]]:
    """Let controls mean the cells that they did; yield of each whether it changed, and whether these are lost."""
    for holder in root.iter(*_FORMULAS):
        before = holder.text or ""
        after = formulas.plain(before, is_own=is_own)
        holder.text = after
        yield after != before, formulas.has_lost


def _move(anchor: Element | None, seat: Callable[[int], int], shift: Shift) -> None:
    """Move a box: left, top, right and bottom, each as a number from 0 and how far it is into that column or row."""
    numbers = [] if anchor is None else [whole(each, -1) for each in (anchor.text or "").split(",")]
    if anchor is None or len(numbers) != 8 or min(numbers) < 0:
        return
    for at in (2, 6) if shift.is_of_rows else (0, 4):
        numbers[at] = min(max(seat(numbers[at]), 0), shift.limit - 1)
    anchor.text = ", ".join(map(str, numbers))
