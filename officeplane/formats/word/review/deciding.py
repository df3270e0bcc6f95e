"""Deciding: a tracked change becomes the text, or what was before it does."""

from itertools import takewhile
from typing import Final

from lxml import etree

from officeplane.formats.word.block import inside
from officeplane.formats.word.bookmarks import RANGE_MARKS, node_of
from officeplane.formats.word.names import (
    BOOKMARK_END,
    BOOKMARK_START,
    ID,
    P_PR,
    R_PR,
    SECT_PR,
    TBL,
    TC,
    TR,
    R,
    T,
    element,
    w,
)
from officeplane.formats.word.names import P as PARAGRAPH
from officeplane.formats.word.nodes.rewriting import drop_empty
from officeplane.formats.word.preserved_marks import PreservedMarks, marks_to_preserve
from officeplane.formats.word.review.formats import reject_format
from officeplane.formats.word.review.names import CELL_MERGE, CELLS, DELETIONS, FORMATS, INSERTIONS
from officeplane.formats.xml import Element, take_out

_ROW_PR: Final = w("trPr")
_NUMBERING: Final = w("numberingChange")
_LIST: Final = w("numPr")
_RESTORED: Final = {w("delText"): T, w("delInstrText"): w("instrText")}
_SILENT: Final = RANGE_MARKS | {w("proofErr")}
_BEFORE_MERGE: Final = frozenset((w("cnfStyle"), w("tcW"), w("gridSpan"), w("hMerge")))
_EMPTY_PROPERTIES: Final = frozenset((P_PR, R_PR, _ROW_PR, w("tcPr")))


def decide(change: Element, emptied: set[Element], *, accept: bool) -> int:
    """Accept or reject one change; return how many ends of Word's sections went with it.

    `emptied` are the paragraphs that lost some of their text to the changes that were decided before.
    """
    holder = change.getparent()
    if holder is None:
        return 0
    if change.tag in FORMATS:
        if not accept and change.tag != _NUMBERING:
            reject_format(change)
        _drop(change)
    elif change.tag == CELL_MERGE:
        _settle_merge(change, "vMerge" if accept else "vMergeOrig")
    elif accept == (change.tag in INSERTIONS):
        _keep(change, holder)
    else:
        return _lose(change, holder, emptied)
    return 0


def _keep(change: Element, holder: Element) -> None:
    """Take away the mark, not what it is about."""
    if _is_mark(change, holder):
        _drop(change)
        return
    if change.tag in DELETIONS:
        for gone in [*change.iter(*_RESTORED)]:
            gone.tag = _RESTORED[str(gone.tag)]
    inside = [inner for inner in change if inner.tag != R or any(held.tag != R_PR for held in inner)]
    for inner in inside:
        change.addprevious(inner)
    after = change.getnext()
    holder.remove(change)
    if inside:
        _make_one(inside[-1], after)
        _make_one(inside[0].getprevious(), inside[0])


def _lose(change: Element, holder: Element, emptied: set[Element]) -> int:
    """Take away what the mark is about."""
    if holder.tag == _ROW_PR:
        _remove_row(holder)
    elif change.tag in CELLS:
        _remove_cell(holder)
    elif holder.tag == _LIST:
        _drop(holder)
    elif _is_mark(change, holder):
        return _join(change, holder, emptied)
    else:
        emptied.update(change.iterancestors(PARAGRAPH))
        for kept in _inline(marks_to_preserve([change])):
            change.addprevious(kept)
        before, after = change.getprevious(), change.getnext()
        holder.remove(change)
        _make_one(before, after)
        # A link or a field of which nothing is left would be seen nowhere and found all the same.
        drop_empty(holder, next(holder.iterancestors(PARAGRAPH), holder))
    return 0


def _make_one(before: Element | None, after: Element | None) -> None:
    """Bring together again what one change or one run was, before somebody changed something inside it."""
    if before is None or after is None or before.tag != after.tag or before.attrib != after.attrib:
        return
    if before.tag == R and _is_text(before) and _is_text(after) and _look(before) == _look(after):
        before.extend([inner for inner in after if inner.tag != R_PR])
        _remove(after)
    elif before.tag in INSERTIONS | DELETIONS and len(before) and len(after):
        last, first = before[-1], after[0]
        before.extend(list(after))
        _remove(after)
        _make_one(last, first)


def _is_text(run: Element) -> bool:
    return all(inner.tag in {R_PR, T} for inner in run)


def _look(run: Element) -> bytes:
    properties = run.find(R_PR)
    return b"" if properties is None else etree.tostring(properties, method="c14n", exclusive=True)


def _is_mark(change: Element, holder: Element) -> bool:
    """Tell whether it is about what it stands in the properties of, and holds nothing itself."""
    return holder.tag in {_ROW_PR, _LIST, R_PR} or change.tag in CELLS


def _join(change: Element, properties: Element, emptied: set[Element]) -> int:
    """Give what a paragraph says to the one behind it: its end is gone."""
    paragraph = next(properties.iterancestors(PARAGRAPH), None)
    _drop(change)
    if paragraph is None:
        return 0
    after = _neighbour(paragraph, behind=True)
    own = paragraph.find(P_PR)
    _forget_nodes(paragraph)
    said = [inner for inner in paragraph if inner is not own]
    if after is None or after.tag != PARAGRAPH:
        if not said and not _is_needed(paragraph):
            _remove(paragraph)
        return 0
    breaks = 0 if own is None else len(own.findall(SECT_PR))
    is_left = paragraph not in emptied and after in emptied
    if not _says_something(after) and (_says_something(paragraph) or is_left):
        _take_form(paragraph, after)
        emptied.add(paragraph)
        return breaks
    first = after.find(P_PR)
    at = 0 if first is None else after.index(first) + 1
    after[at:at] = said
    _forget_nodes(after)
    _remove(paragraph)
    return breaks


def _neighbour(block: Element, *, behind: bool) -> Element | None:
    """Return what stands before or behind a block, without the marks between."""
    return next((one for one in block.itersiblings(preceding=not behind) if one.tag not in _SILENT), None)


def _says_something(paragraph: Element) -> bool:
    return any(inner.tag != P_PR and inner.tag not in _SILENT for inner in paragraph)


def _forget_nodes(paragraph: Element) -> None:
    """Take out the bookmarks of headings and pages of which nothing is left: they would name what follows."""
    for start in [one for one in paragraph.iterchildren(BOOKMARK_START) if node_of(one) is not None]:
        between = takewhile(lambda one: one.tag in _SILENT, start.itersiblings())
        end = next((one for one in between if one.tag == BOOKMARK_END and one.get(ID) == start.get(ID)), None)
        if end is not None:
            paragraph.remove(start)
            paragraph.remove(end)


def _take_form(paragraph: Element, after: Element) -> None:
    """Have a paragraph end as the next one does, which says nothing: so the text stays where it is, under its id."""
    own, theirs = paragraph.find(P_PR), after.find(P_PR)
    if own is not None:
        paragraph.remove(own)
    paragraph.extend([inner for inner in after if inner is not theirs])
    if theirs is not None:
        paragraph.insert(0, theirs)
    _remove(after)


def _is_needed(paragraph: Element) -> bool:
    """Tell whether a paragraph ends a cell or keeps two tables apart, or ends a section."""
    before, after = _neighbour(paragraph, behind=False), _neighbour(paragraph, behind=True)
    if paragraph.find(f"{P_PR}/{SECT_PR}") is not None or after is None:
        return True
    return before is not None and before.tag == TBL and after.tag in {TBL, SECT_PR}


def _remove_row(properties: Element) -> None:
    row = next(properties.iterancestors(TR), None)
    table = None if row is None else next(row.iterancestors(TBL), None)
    if row is None or table is None:
        return
    preserved = marks_to_preserve([row])
    rows = [*inside(table, TR)]
    at = rows.index(row)
    near = rows[at + 1 : at + 2] or rows[:at][-1:]
    if near:
        preserved.settle_in(next(near[0].iter(PARAGRAPH)), at_end=False)
        take_out(row)
    else:
        _remove_table(table, preserved)


def _remove_table(table: Element, preserved: PreservedMarks) -> None:
    before, after = _neighbour(table, behind=False), _neighbour(table, behind=True)
    kept = _inline(preserved)
    if kept and after is not None and after.tag == PARAGRAPH:
        preserved.settle_in(after, at_end=False)
        kept = []
    if (
        kept
        or after is None
        or after.tag not in {PARAGRAPH, TBL}
        or (before is not None and before.tag == TBL == after.tag)
    ):
        # A cell ends with a paragraph, tables that touch are one, and what is kept stands in some text.
        stands_in = element("p")
        stands_in.extend(kept)
        table.addprevious(stands_in)
    _remove(table)


def _remove_cell(properties: Element) -> None:
    cell = next(properties.iterancestors(TC), None)
    row = None if cell is None else cell.getparent()
    if cell is None or row is None:
        return
    others = [other for other in inside(row, TC) if other is not cell]
    if others:
        marks_to_preserve([cell]).settle_in(next(others[0].iter(PARAGRAPH)), at_end=False)
        take_out(cell)


def _settle_merge(change: Element, name: str) -> None:
    properties = change.getparent()
    said = change.get(w(name))
    if properties is None:
        return
    for merge in properties.findall(w("vMerge")):
        properties.remove(merge)
    if said is not None:
        before = [inner for inner in properties if inner.tag in _BEFORE_MERGE]
        merge = element("vMerge", val="restart" if said == "rest" else "continue")
        properties.insert(properties.index(before[-1]) + 1 if before else 0, merge)
    properties.remove(change)


def _drop(mark: Element) -> None:
    """Take a mark out, and properties that say nothing any more."""
    holder = mark.getparent()
    if holder is None:
        return
    holder.remove(mark)
    if holder.tag in _EMPTY_PROPERTIES and not len(holder) and (above := holder.getparent()) is not None:
        above.remove(holder)


def _inline(preserved: PreservedMarks) -> list[Element]:
    return [*preserved.marks, *preserved.references]


def _remove(top: Element) -> None:
    parent = top.getparent()
    if parent is not None:
        parent.remove(top)
