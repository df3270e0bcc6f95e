"""Cells: what they say, and new ones that look like those beside them."""

from copy import deepcopy
from typing import Final

from officeplane.domain.warning import Loss
from officeplane.formats.word.insets import SECTION_BREAK, insets_of, outermost
from officeplane.formats.word.names import P_PR, R_PR, SDT, SECT_PR, TBL, P, R, child, element, w
from officeplane.formats.word.preserved_marks import check_fields, marks_to_preserve
from officeplane.formats.word.segments import fill_run, text_of
from officeplane.formats.word.table_edits.grid import CELL_PR, MERGE, SPAN
from officeplane.formats.xml import Element, take_out

_HYPERLINK: Final = w("hyperlink")
_TRACKED: Final = tuple(
    w(name)
    for name in (
        "ins", "del", "moveFrom", "moveTo", "cellIns", "cellDel", "cellMerge", "rPrChange", "pPrChange", "tcPrChange",
        "trPrChange", "tblPrExChange",
    )
)  # fmt: skip
_BLOCKS: Final = frozenset((P, TBL, SDT))


def losses_in(held: Element, node_id: str) -> list[Loss]:
    """Return what stands in a cell or a row without being text."""
    found = [Loss(one.kind, node_id, one.name) for one in outermost(insets_of(held)) if one.kind != SECTION_BREAK]
    return found + [Loss("table", node_id, "") for _ in held.iter(TBL)]


def says(cell: Element) -> str:
    """Return what a cell says, its paragraphs by line."""
    return "\n".join(text_of(paragraph) for paragraph in cell.iter(P))


def write(cell: Element, text: str) -> None:
    """Have a cell say a text, formatted as what it said first."""
    held = [inner for inner in cell if inner.tag in _BLOCKS]
    check_fields(held)
    first = next((inner for inner in held if inner.tag == P), None)
    home = element("p") if first is None else first
    look = _look(home)
    preserved = marks_to_preserve(held)
    for inner in held:
        if inner is not home:
            take_out(inner)
    for inner in [inner for inner in home if inner.tag != P_PR]:
        home.remove(inner)
    if first is None:
        cell.append(home)
    preserved.settle_in(home, at_end=False)
    _say(home, text, look)


def alike(cell: Element, text: str) -> Element:
    """Return a new cell, covering one place, that looks like another one and says a text."""
    made = element("tc")
    properties = cell.find(CELL_PR)
    if properties is not None:
        made.append(untracked(properties))
        for merged in [*made[0].iter(SPAN, MERGE)]:
            made[0].remove(merged)
    first = next(cell.iter(P), None)
    paragraph = child(made, "p")
    if first is not None:
        own = first.find(P_PR)
        if own is not None:
            paragraph.append(untracked(own))
        _say(paragraph, text, _look(first))
    return made


def untracked(properties: Element) -> Element:
    """Return a copy of properties that says nothing of tracked changes, nor of the end of a section."""
    copy = deepcopy(properties)
    copy.tail = None
    for gone in [*copy.iter(*_TRACKED, SECT_PR)]:
        parent = gone.getparent()
        if parent is not None:
            parent.remove(gone)
    return copy


def take_in(cell: Element, other: Element) -> None:
    """Put what another cell says behind what a cell says; the other is left with an empty paragraph."""
    moved = [inner for inner in other if inner.tag in _BLOCKS]
    if any(inner.tag != P or len(inner) > (inner.find(P_PR) is not None) for inner in moved):
        if says(cell) == "" and not losses_in(cell, ""):
            for empty in [inner for inner in cell if inner.tag == P and not _has_marks(inner)]:
                cell.remove(empty)
        cell.extend(moved)
    else:
        for inner in moved:
            take_out(inner)
    if other.find(P) is None:
        child(other, "p")
    if cell[-1].tag != P:
        child(cell, "p")


def _has_marks(paragraph: Element) -> bool:
    return any(inner.tag != P_PR for inner in paragraph)


def _say(paragraph: Element, text: str, look: Element | None) -> None:
    if text:
        run = child(paragraph, "r")
        if look is not None:
            run.append(deepcopy(look))
        fill_run(run, text)


def _look(paragraph: Element) -> Element | None:
    """Return the formatting of a paragraph's first text, or of the text that would be typed into it."""
    for run in paragraph.iter(R):
        if next(run.iterancestors(_HYPERLINK), None) is None and run.find(R_PR) is not None:
            return _own(run.find(R_PR))
        if run.getparent() is paragraph:
            return None
    return _own(paragraph.find(f"{P_PR}/{R_PR}"))


def _own(properties: Element | None) -> Element | None:
    return None if properties is None else untracked(properties)
