"""Deleting: a node less, with all below it; what others refer to stays with its neighbours."""

from collections.abc import Iterable
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.word.block import inside
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.insets import SECTION_BREAK, insets_of, outermost
from officeplane.formats.word.names import ALTERNATIVES, ID, TBL, TC, TR, P, element, w
from officeplane.formats.word.nodes.boxes import copy_boxes
from officeplane.formats.word.nodes.extents import extent
from officeplane.formats.word.nodes.inserting import keep_apart
from officeplane.formats.word.nodes.leaves import fields, leaves
from officeplane.formats.word.nodes.rewriting import drop_empty
from officeplane.formats.word.preserved_marks import check_fields, marks_to_preserve
from officeplane.formats.xml import Element

_DRAWN: Final = frozenset(("picture", "chart", "diagram", "shape", "text box", "embedded object"))
_NOTES: Final = {"footnote": w("footnoteReference"), "endnote": w("endnoteReference")}
_SINGLE: Final = frozenset(("page break", "column break", "formula", "symbol", "phonetic guide"))
_STRETCHES: Final = frozenset(("paragraph", "heading", "item", "table", "chapter", "section", "page"))


class Deleting:
    """Takes nodes out."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    def delete(self, node_id: str) -> list[Loss]:
        """Take a node out; return what is lost with it without being named."""
        found = self._finder.find(node_id)
        is_note = found.kind in _NOTES
        known = (*_STRETCHES, *_DRAWN, *_SINGLE, "row", "field", "content control", "table of contents")
        if not is_note and found.kind not in known:
            raise InvalidEditError(f"{node_id!r} is a {found.kind}: {_instead(found.kind)}")
        self._finder.stories.stamp(found.story)
        if is_note:
            return self._delete_note(found)
        if found.kind == "page" and found.place is not None:
            return self._delete_page(found)
        if found.kind == "row":
            return self._delete_row(found)
        if found.kind in _STRETCHES or next(found.element.iterancestors(P), None) is None:
            return self._delete_stretch(found)
        return self._delete_inset(found)

    def _delete_page(self, found: Found) -> list[Loss]:
        losses = _losses(found.elements, found.id)
        body = self._finder.stories.body
        body.delete(body.page(found.id))
        return losses

    def _delete_stretch(self, found: Found) -> list[Loss]:
        elements = extent(self._finder, found)
        losses = [one for one in _losses(elements, found.id) if one.kind != found.kind]
        body = self._finder.stories.body
        if found.story is body.story and elements[0].getparent() is body.story.container:
            begin = body.story.container.index(elements[0])
            body.take_out(begin, body.story.container.index(elements[-1]) + 1)
            return losses
        holder = elements[0].getparent()
        if holder is None:
            return losses
        for one in elements:
            take_out_of(holder, one)
        keep_apart(holder)
        copy_boxes(holder)
        found.story.reread({block.element for block in found.story.blocks[found.begin : found.end]})
        return losses

    def _delete_row(self, found: Found) -> list[Loss]:
        table = next(found.element.iterancestors(TBL))
        rows = [*inside(table, TR)]
        if len(rows) == 1:
            whole = self._finder.at(table, "table", found.id)
            return [] if whole is None else self._delete_stretch(whole)
        losses = _losses([found.element], found.id)
        check_fields([found.element])
        at = rows.index(found.element)
        if at + 1 < len(rows):
            _hand_on(found.element, rows[at + 1])
        other = rows[at + 1] if at + 1 < len(rows) else rows[at - 1]
        preserved = marks_to_preserve([found.element])
        paragraph = next(other.iter(P), None)
        if paragraph is not None:
            preserved.settle_in(paragraph, at_end=at + 1 >= len(rows))
        parent = found.element.getparent()
        if parent is not None:
            parent.remove(found.element)
            # A control around a row has nothing to hold any more.
            control = parent.getparent()
            around = None if control is None else control.getparent()
            if parent.tag == w("sdtContent") and not len(parent) and control is not None and around is not None:
                around.remove(control)
        copy_boxes(table)
        found.story.touch(found.begin)
        return losses

    def _delete_note(self, found: Found) -> list[Loss]:
        number = found.element.get(ID, "")
        tag = _NOTES[found.kind]
        losses: list[Loss] = []
        for story in self._finder.stories.all():
            marks = [mark for mark in story.root.iter(tag) if mark.get(ID) == number]
            notes = [
                block.element for block in story.blocks if block.element.tag == w(found.kind)
                and block.element.get(ID) == number
            ]  # fmt: skip
            if not marks and not notes:
                continue
            self._finder.stories.stamp(story)
            changed = {
                block.element for block in story.blocks if any(mark in block.element.iter(tag) for mark in marks)
            }
            for mark in marks:
                _remove_from_run(mark)
            for note in notes:
                losses += _losses([note], found.id)
                story.container.remove(note)
            story.reread(changed)
        return losses

    def _delete_inset(self, found: Found) -> list[Loss]:
        inset = found.element
        paragraph = next(inset.iterancestors(P))
        losses = _losses([inset], found.id)[1:]
        if found.kind in {"field", "table of contents"} and inset.tag == w("fldChar"):
            self._delete_field(found, paragraph)
        elif inset.tag == w("pageBreakBefore"):
            properties = inset.getparent()
            if properties is not None:
                properties.remove(inset)
        else:
            # What is drawn goes with the copy of it that only old programs show.
            around = next(inset.iterancestors(ALTERNATIVES), None)
            is_copied = around is not None and paragraph in around.iterancestors(P)
            _remove_from_run(around if is_copied and around is not None else inset)
        copy_boxes(paragraph)
        found.story.touch(found.begin)
        return losses

    def _delete_field(self, found: Found, paragraph: Element) -> None:
        line = leaves(paragraph, lambda _: "")
        for one in fields(line)[0]:
            if line[one.first].element is found.element:
                for leaf in line[one.first : one.last + 1]:
                    if not leaf.stays:
                        _remove_from_run(leaf.element)
                return
        raise InvalidEditError(f"the {found.kind} {found.id!r} reaches out of its paragraph: delete it in Word")


def take_out_of(holder: Element, held: Element) -> None:
    """Take a paragraph or a table out of what holds it, or empty it where that needs one."""
    check_fields([held])
    preserved = marks_to_preserve([held])
    others = [one for one in holder if one is not held and one.tag == P]
    if not others:
        if held.tag == P:
            for inner in [inner for inner in held if inner.tag != w("pPr")]:
                held.remove(inner)
            preserved.settle_in(held, at_end=True)
        else:
            blank = element("p")
            preserved.settle_in(blank, at_end=True)
            holder.replace(held, blank)
        return
    if preserved.marks or preserved.references:
        following = next((one for one in held.itersiblings() if one.tag == P), None)
        preserved.settle_in(others[-1] if following is None else following, at_end=following is None)
    holder.remove(held)


def columns_of(row: Element) -> Iterable[tuple[int, Element]]:
    """Yield the cells of a row, each with the column of the grid where it begins."""
    at = _number(row.find(f"{w('trPr')}/{w('gridBefore')}"), 0)
    for cell in inside(row, TC):
        yield at, cell
        at += _number(cell.find(f"{w('tcPr')}/{w('gridSpan')}"), 1)


def _losses(elements: Iterable[Element], node_id: str) -> list[Loss]:
    insets = outermost(inset for one in elements for inset in insets_of(one))
    return [Loss(one.kind, node_id, one.name) for one in insets if one.kind != SECTION_BREAK]


def _remove_from_run(element: Element) -> None:
    parent = element.getparent()
    if parent is not None:
        paragraph = next(element.iterancestors(P), parent)
        parent.remove(element)
        drop_empty(parent, paragraph)


def _hand_on(row: Element, following: Element) -> None:
    """Have cells that are merged with those of a row that goes begin in the next one."""
    below = dict(columns_of(following))
    for column, cell in columns_of(row):
        merge = cell.find(f"{w('tcPr')}/{w('vMerge')}")
        other = below.get(column)
        goes_on = None if other is None else other.find(f"{w('tcPr')}/{w('vMerge')}")
        if merge is not None and merge.get(w("val")) == "restart" and goes_on is not None:
            goes_on.set(w("val"), "restart")


def _number(found: Element | None, otherwise: int) -> int:
    said = "" if found is None else found.get(w("val"), "")
    return int(said) if said.isdecimal() else otherwise


def _instead(kind: str) -> str:
    match kind:
        case "cell":
            return "edit_node with an empty text empties it"
        case "header" | "footer":
            return "edit_node with an empty text empties it"
        case "footnotes" | "endnotes":
            return "name one of the notes"
        case "comment":
            return "`comment` deletes it"
        case "change":
            return "review_changes accepts or rejects it"
        case "section break":
            return "it holds the paper of the pages before it and is not deleted"
        case _:
            return "it is none of the nodes that can be deleted by themselves"
