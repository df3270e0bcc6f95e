"""Commenting: remarks on slides and on what lies on them, answers, and their end."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.comments import classic, modern
from officeplane.formats.powerpoint.comments.remarks import (
    UNITS_A_POINT,
    Remark,
    authors_of,
    classic_id,
    modern_id,
    remarks_on,
)
from officeplane.formats.powerpoint.nodes import SlideNode
from officeplane.formats.powerpoint.removal import drop_unused
from officeplane.formats.powerpoint.shape_order import is_grouped
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.relationships import Relationships
from officeplane.formats.signature import Signature

_CORNER: Final = (10, 10)
_INSTEAD: Final = {
    "comment": "a comment, on which there are no others: give it to `reply`",
    "notes": "the notes of a slide, which have no comments: comment on the slide",
    "row": "a row: comment on its table",
    "cell": "a cell: comment on its table",
}


class Commenting:
    """Changes the comments of one presentation, in the name of one person."""

    def __init__(
        self,
        package: Package,
        main: str,
        slides: Sequence[Slide],
        find: Callable[[str], SlideNode],
        signature: Signature,
    ) -> None:
        self._package = package
        self._main = main
        self._slides = slides
        self._find = find
        self._signature = signature

    def add(self, node_id: str, text: str, find: str | None, nth: int | None) -> str:  # noqa: ARG002 - nth is of find
        """Pin a comment to a slide, or to where something lies on it; return the comment's id."""
        if find is not None:
            raise InvalidEditError("`find` marks words of Word documents; on a slide a comment is pinned to a place")
        node = self._find(node_id)
        if node.detail.kind in _INSTEAD:
            raise InvalidEditError(f"{node.id!r} is {_INSTEAD[node.detail.kind]}")
        if modern.is_in_use(self._package, self._main):
            shape = None if node.shape is None or is_grouped(node.shape) else node.shape
            tied = modern.add_comment(self._package, self._main, node.slide, shape, text, self._signature)
            return modern_id(node.slide.id, tied)
        form = {} if node.shape is None else node.reader.form(node.detail)
        place = _CORNER
        if "x" in form:
            place = (round(form["x"] * UNITS_A_POINT), round(form["y"] * UNITS_A_POINT))
        made = classic.add_comment(self._package, self._main, node.slide.part, place, text, self._signature)
        return classic_id(node.slide.id, made)

    def reply(self, to: str, text: str) -> str:
        """Answer a comment; return the answer's id."""
        slide, thread = self._thread(to)
        first = thread[0]
        add = modern.add_answer if first.is_modern else classic.add_answer
        made = add(self._package, self._main, first.part, first.element, text, self._signature)
        return (modern_id if first.is_modern else classic_id)(slide.id, made)

    def resolve(self, of: str, *, is_resolved: bool) -> str:
        """Say that a thread is resolved, or that it is open; return the id of the comment that it began with."""
        _, thread = self._thread(of)
        first = thread[0]
        if not first.is_modern:
            raise InvalidEditError(
                f"{of!r} is a comment of PowerPoint's older form, which has no state: reply to it, or delete it"
            )
        modern.set_resolved(self._package, first.part, first.element, is_resolved=is_resolved)
        return first.id

    def delete(self, gone_id: str) -> list[Loss]:
        """Take a comment away; return its answers, which go with it if the thread began with it."""
        slide, thread = self._thread(gone_id)
        remark = next(one for one in thread if one.id == gone_id)
        gone = thread if remark is thread[0] else [remark]
        if remark.is_modern:
            is_empty = modern.remove_comment(self._package, remark.part, remark.element)
        else:
            is_empty = classic.remove_comments(self._package, remark.part, [one.element for one in gone])
        if is_empty:
            self._drop(slide, remark.part)
        return [Loss("reply", one.id, one.text) for one in gone if one is not remark]

    def _drop(self, slide: Slide, part: str) -> None:
        arrows = Relationships(self._package, slide.part)
        for arrow in [arrow for arrow in arrows.of_type("comments") if arrow.target == part]:
            modern.forget_part(self._package, slide.part, arrow.id)
            arrows.remove(arrow.id)
        drop_unused(self._package, [part])

    def _all(self) -> Iterator[tuple[Slide, list[Remark]]]:
        authors = authors_of(self._package, self._main)
        for slide in self._slides:
            yield slide, remarks_on(self._package, slide.part, slide.id, authors)

    def _thread(self, wanted: str) -> tuple[Slide, list[Remark]]:
        known: list[str] = []
        for slide, remarks in self._all():
            found = next((remark for remark in remarks if remark.id == wanted), None)
            if found is not None:
                return slide, [remark for remark in remarks if remark.first == found.first]
            known += (remark.id for remark in remarks)
        there_are = f"there are {', '.join(known)[:300]}" if known else "the presentation has none"
        raise InvalidEditError(f"there is no comment {wanted!r}: {there_are}")
