"""The proof: accepted, what was tracked is what the edit has made; rejected, it is what was there before.

Nothing leaves here that is not so. What cannot be tracked is refused, whatever it is,
rather than done half or without a mark.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.block import inside
from officeplane.formats.word.bookmarks import RANGE_MARKS
from officeplane.formats.word.names import FALLBACK, P_PR, R_PR, SDT, TBL, TC, TEXT_BOX, TR, P, element, w
from officeplane.formats.word.review.deciding import decide
from officeplane.formats.word.review.names import CHANGES
from officeplane.formats.word.tracking.looks import form_of, look_of, said, section_of
from officeplane.formats.word.tracking.pencil import Pencil, end_of
from officeplane.formats.word.tracking.pieces import COME, GONE, pieces_of, units_of
from officeplane.formats.xml import Element

_SILENT: Final = RANGE_MARKS | {w("proofErr")}
_ROW_MARKS: Final = frozenset((w("ins"), w("del")))


def check(pencil: Pencil, tracked: Sequence[Element], now: Sequence[Element], was: Sequence[Element]) -> None:
    """Refuse what cannot be told as tracked changes; `now` is what the edit made of what `was` there."""
    for blocks, accept in ((now, True), (was, False)):
        one, other = _settled(pencil, tracked, accept=accept), _settled(pencil, blocks, accept=accept)
        if not _is_same(one, other):
            deed = "accepting it would not give what was asked for" if accept else "rejecting it would not undo it"
            raise InvalidEditError(
                f"this cannot be written as tracked changes where it stands: {deed}. Accept or reject the changes that "
                "are there, change less at once, or use changeMode direct"
            )


def _settled(pencil: Pencil, blocks: Sequence[Element], *, accept: bool) -> list[object]:
    """Return what blocks say once all changes of the one who makes them are decided."""
    holder = element("body")
    holder.extend(deepcopy(list(blocks)))
    emptied: set[Element] = set()
    for change in reversed([*holder.iter(*CHANGES)]):
        if pencil.is_own(change):
            decide(change, emptied, accept=accept)
    return [*_blocks(holder, accept=accept)]


def _is_same(tracked: list[object], other: list[object]) -> bool:
    if tracked == other:
        return True
    # A text of which nothing is left has an empty paragraph all the same.
    is_empty = all(isinstance(one, str) for one in other) and tracked[1:] == other
    return is_empty and isinstance(tracked[0], tuple) and tracked[0][-2:] == ([], [])


def _blocks(holder: Element, *, accept: bool) -> Iterator[object]:
    for one in holder:
        if not isinstance(one.tag, str) or one.tag in _SILENT:
            continue
        if one.tag == P:
            yield _paragraph(one, accept=accept)
        elif one.tag == TBL:
            yield "table", _properties(one, "tblPr"), _properties(one, "tblGrid"), [
                (_properties(row, "trPr"), [[*_blocks(cell, accept=accept)] for cell in inside(row, TC)])
                for row in inside(one, TR)
            ]  # fmt: skip
        elif one.tag == SDT or one.tag in {w("sdtContent"), w("footnote"), w("endnote")}:
            yield str(one.tag), [*_blocks(one, accept=accept)]
        else:
            yield said(one)


def _paragraph(paragraph: Element, *, accept: bool) -> object:
    pieces = pieces_of(paragraph)
    if accept:
        # What others have deleted is no text, and may stay where it is until they have decided.
        pieces = [one for one in pieces if not any(shell.element.tag in GONE for shell in one.path)]
        # What others have inserted is text; what is put into it is no part of that.
        for one in pieces:
            one.path = tuple(shell for shell in one.path if shell.element.tag not in COME)
    noted_in = {run: [] if run is None else _noted(run) for run in {piece.run for piece in pieces}}
    line = [
        (
            unit.key,
            # A field may be in its short or in its long form.
            None if unit.key[0] == "field" else [(one.look, noted_in[one.run]) for one in unit.pieces],
        )
        for unit in units_of(pieces)
    ]
    boxes = [
        [*_blocks(box, accept=accept)] for box in paragraph.iter(TEXT_BOX)
        if next(box.iterancestors(FALLBACK), None) is None
    ]  # fmt: skip
    noted = [said(one) for one in paragraph.iterfind(f"{P_PR}/{w('pPrChange')}")]
    return form_of(paragraph), look_of(end_of(paragraph)), section_of(paragraph), noted, line, boxes


def _noted(run: Element) -> list[str]:
    return [said(one) for one in run.iterfind(f"{R_PR}/{w('rPrChange')}")]


def _properties(holder: Element, name: str) -> list[str]:
    found = holder.find(w(name))
    return [] if found is None else [said(one) for one in found if one.tag not in _ROW_MARKS]
