"""Commenting: remarks on cells, answers to them, and their end."""

from collections.abc import Iterator, Sequence

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.comments.notes import note_of_thread, remove_note, show_thread
from officeplane.formats.excel.comments.remarks import Remark, node_id, remarks_on, thread_id
from officeplane.formats.excel.comments.threads import add_comment, remove_comments, set_resolved
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.places import place_of
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.signature import Signature


class Commenting:
    """Changes the comments of one workbook, in the name of one person."""

    def __init__(self, parts: Parts, signature: Signature) -> None:
        self._parts = parts
        self._package = parts.package
        self._signature = signature

    def add(self, node: str, text: str, find: str | None, nth: int | None) -> str:  # noqa: ARG002 - nth is of find
        """Begin a thread at a cell; return the comment's id."""
        if find is not None:
            raise InvalidEditError(
                "`find` marks words of Word documents; in a workbook a comment is about a whole cell"
            )
        sheet, cell = self._cell(node)
        there = next((one for one in self._on(sheet) if one.cell == str(cell) and not one.parent), None)
        if there is not None and there.is_note:
            raise InvalidEditError(
                f"{cell} of the sheet {sheet.name!r} has a note, {there.id!r}, and Excel has no comment beside one: "
                "delete the note first, or comment on another cell"
            )
        if there is not None:
            raise InvalidEditError(
                f"{cell} of the sheet {sheet.name!r} has a thread of comments already: reply to {there.id!r}"
            )
        made = add_comment(self._package, self._parts.workbook, sheet, str(cell), text, self._signature, None)
        self._show(sheet, node_id(sheet, thread_id(made)))
        return node_id(sheet, thread_id(made))

    def reply(self, to: str, text: str) -> str:
        """Answer a comment; return the answer's id."""
        sheet, thread = self._thread(to)
        first = thread[0]
        made = add_comment(self._package, self._parts.workbook, sheet, first.cell, text, self._signature, first.element)
        self._show(sheet, first.id)
        return node_id(sheet, thread_id(made))

    def resolve(self, of: str, *, is_resolved: bool) -> str:
        """Say that a thread is resolved, or that it is open; return the id of the comment that it began with."""
        sheet, thread = self._thread(of)
        set_resolved(self._package, sheet, thread[0].element, is_resolved=is_resolved)
        return thread[0].id

    def delete(self, gone_id: str) -> list[Loss]:
        """Take a comment or a note away; return the answers that go with the comment if its thread began with it."""
        sheet, remark = self._find(gone_id)
        if remark.is_note:
            remove_note(self._package, sheet, remark.element)
            return []
        _, thread = self._thread(gone_id)
        if remark.parent:
            remove_comments(self._package, sheet, [remark.element])
            self._show(sheet, remark.parent)
            return []
        note = note_of_thread(self._package, sheet, thread_id(remark.element))
        remove_comments(self._package, sheet, [one.element for one in thread])
        if note is not None:
            remove_note(self._package, sheet, note)
        return [Loss("reply", one.id, one.text) for one in thread[1:]]

    def _show(self, sheet: Sheet, first_id: str) -> None:
        thread = [one for one in self._on(sheet) if one.first == first_id]
        guid = thread_id(thread[0].element)
        show_thread(self._package, sheet, thread[0].cell, guid, [one.text for one in thread])

    def _on(self, sheet: Sheet) -> list[Remark]:
        return remarks_on(self._package, self._parts.workbook, sheet)

    def _all(self) -> Iterator[tuple[Sheet, Remark]]:
        for sheet in self._parts.sheets.all:
            for remark in self._on(sheet):
                yield sheet, remark

    def _find(self, wanted: str) -> tuple[Sheet, Remark]:
        found = next(((sheet, remark) for sheet, remark in self._all() if remark.id == wanted), None)
        if found is None:
            known = ", ".join(remark.id for _, remark in self._all())
            there_are = f"there are {known[:300]}" if known else "the workbook has none"
            raise InvalidEditError(f"there is no comment {wanted!r}: {there_are}")
        return found

    def _thread(self, wanted: str) -> tuple[Sheet, Sequence[Remark]]:
        sheet, remark = self._find(wanted)
        if remark.is_note:
            raise InvalidEditError(
                f"{wanted!r} is a note, to which Excel has no answers and no state: delete it and add a comment to "
                f"{remark.cell} in its place, or comment on another cell"
            )
        return sheet, [one for one in self._on(sheet) if one.first == remark.first]

    def _cell(self, wanted: str) -> tuple[Sheet, Address]:
        sheet, area = place_of(self._parts, wanted)
        if area.size != 1:
            raise InvalidEditError(f"{wanted!r} is more than a cell: a comment is about one, such as {area.first}")
        merge = self._parts.grid(sheet).merges.at(area.first)
        if merge is not None and merge.first != area.first:
            raise InvalidEditError(f"{area} is covered by the merged cells {merge}: comment on {merge.first}")
        return sheet, area.first
