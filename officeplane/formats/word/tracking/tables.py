"""Tables: rows that came and went are marked, and in the rows that stayed what their cells say."""

from collections.abc import Callable
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.block import inside
from officeplane.formats.word.names import TC, TEXT_BOX, TR, P, w
from officeplane.formats.word.review.names import CHANGES
from officeplane.formats.word.tracking.ledger import Ledger
from officeplane.formats.word.tracking.lines import delete_line, insert_line
from officeplane.formats.word.tracking.looks import said
from officeplane.formats.word.tracking.order import stayed
from officeplane.formats.xml import Element

_ROW_PR: Final = w("trPr")
_CELL_PR: Final = w("tcPr")
_MARKS: Final = frozenset((w("ins"), w("del")))


def track_table(ledger: Ledger, now: Element, was: Element, inner: Callable[[Ledger, Element, Element], None]) -> None:
    """Mark what changed in a table; `inner` does so in what cells hold."""
    _check_alike(now, was, "the style, the columns or the width of a table")
    new, old = [*inside(now, TR)], [*inside(was, TR)]
    kept = [(new[at], old[place]) for at, place in stayed([ledger.twins.get(row) for row in new], old)]
    if len(kept) < max(len(new), len(old)) and any(row.getparent() is not now for row in new):
        raise InvalidEditError("rows in a content control cannot come or go as tracked changes: use changeMode direct")
    stay = dict(kept)
    for row in new:
        if row not in stay:
            if row in ledger.twins:
                ledger.renew(row)
            insert_row(ledger, row)
    for row, twin in kept:
        if not ledger.is_same(row, twin):
            _track_row(ledger, row, twin, inner)
    back = {twin: row for row, twin in kept}
    for before, row in zip([None, *old], old, strict=False):
        if row in back:
            continue
        # Behind the row that it was behind, from the first on.
        if before is None:
            next(now.iter(TR)).addprevious(row)
        else:
            back[before].addnext(row)
        back[row] = row
        ledger.note_back(row)
        delete_row(ledger, row)


def insert_table(ledger: Ledger, table: Element) -> None:
    """Mark a table as new."""
    for row in inside(table, TR):
        insert_row(ledger, row)


def delete_table(ledger: Ledger, table: Element) -> None:
    """Mark a table as gone."""
    for row in inside(table, TR):
        delete_row(ledger, row)


def insert_row(ledger: Ledger, row: Element) -> None:
    """Mark a row as new, with all that it says."""
    if next(row.iter(*CHANGES), None) is not None:
        raise InvalidEditError(
            "what would be inserted holds tracked changes itself: accept or reject them first with review_changes, or "
            "use changeMode direct"
        )
    for paragraph in _paragraphs(row):
        insert_line(ledger.pencil, paragraph)
    ledger.pencil.mark_row(row, "ins")


def delete_row(ledger: Ledger, row: Element) -> None:
    """Mark a row as gone, with all that it says; one that the same person had inserted is gone."""
    mark = row.find(f"{_ROW_PR}/{w('ins')}")
    for paragraph in _paragraphs(row):
        delete_line(ledger.pencil, paragraph)
    if mark is not None and ledger.pencil.is_own(mark):
        ledger.forget(row)
        return
    ledger.pencil.mark_row(row, "del")


def _track_row(
    ledger: Ledger, now: Element, was: Element, inner: Callable[[Ledger, Element, Element], None]
) -> None:  # fmt: skip
    _check_alike(now, was, "what a row is like")
    new, old = [*inside(now, TC)], [*inside(was, TC)]
    if [ledger.twins.get(cell) for cell in new] != old:
        raise InvalidEditError("columns cannot come or go as tracked changes: use changeMode direct")
    for cell, twin in zip(new, old, strict=True):
        if _said_of(cell, _CELL_PR) != _said_of(twin, _CELL_PR):
            raise InvalidEditError(
                "how cells look, and which are merged, cannot change as a tracked change: use changeMode direct"
            )
        if not ledger.is_same(cell, twin):
            inner(ledger, cell, twin)


def _check_alike(now: Element, was: Element, what: str) -> None:
    for tag in (w("tblPr"), w("tblGrid"), w("tblPrEx"), _ROW_PR):
        if _said_of(now, tag) != _said_of(was, tag):
            raise InvalidEditError(f"{what} cannot change as a tracked change: use changeMode direct")


def _said_of(holder: Element, tag: str) -> list[str]:
    return [said(one) for found in holder.findall(tag) for one in found if one.tag not in _MARKS]


def _paragraphs(row: Element) -> list[Element]:
    around = len([*row.iterancestors(TEXT_BOX)])
    return [one for one in row.iter(P) if len([*one.iterancestors(TEXT_BOX)]) == around]
