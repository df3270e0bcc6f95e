"""Merging a presentation: what an upload has changed of the shapes on its slides is done to the head's slides.

What comes of each slide is compared once more with what was to come of it.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Final

from officeplane.domain.warning import EditWarning
from officeplane.formats.merging.beside import NOT_MERGED, properties_differing, written_anew
from officeplane.formats.merging.carrying import CannotCarryError, carry_relations
from officeplane.formats.merging.three_ways import Plan, States, merged, states_of
from officeplane.formats.merging.unit import Conflict, MergeConflictError, Merged, Unit
from officeplane.formats.powerpoint.merging.show import ABOUT, Show
from officeplane.formats.powerpoint.names import a, p
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.powerpoint.shape_removal import drop_parts, take_off
from officeplane.formats.powerpoint.shapes import next_shape_number, shape_tree
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.xml import Element

_GLUE: Final = (a("stCxn"), a("endCxn"))


def merge(base: Presentation, upload: Presentation, head: Presentation) -> Merged:
    """Do to the head what an upload has changed of the base; raise `MergeConflictError` if that cannot be."""
    return _Merging(Show(base), Show(upload), Show(head)).merged()


class _Merging:
    def __init__(self, base: Show, upload: Show, head: Show) -> None:
        self._base = base
        self._upload = upload
        self._head = head
        self._made = Merged()

    def merged(self) -> Merged:
        conflicts = [*self._of_slides()]
        _refuse(conflicts)
        both = [one for one in self._base.slides if one in self._upload.slides and one in self._head.slides]
        states = self._states(both)
        self._made.warnings += self._warnings(both, is_exact=states.upload_is_exact)
        plans = {
            slide_id: merged(
                self._base.units(slide_id), self._head.units(slide_id), self._upload.units(slide_id), states
            )
            for slide_id in both
        }
        _refuse([conflict for plan in plans.values() for conflict in plan.conflicts])
        for slide_id, plan in plans.items():
            if not plan.is_nothing:
                self._apply(slide_id, plan)
        self._check(plans)
        return self._made

    def _of_slides(self) -> Iterator[Conflict]:
        """Yield slides that came, went or moved in the upload: these are no shapes."""
        was, now, here = self._base.slides, self._upload.slides, self._head.slides
        for slide_id in now:
            if slide_id not in was:
                detail = "the upload has a new slide: add it to the document as it is now"
                yield Conflict(slide_id, None, None, self._upload.said(slide_id), detail)
            elif slide_id not in here and self._differs(slide_id):
                detail = "the upload has changed this slide, and the document has it no more"
                yield Conflict(slide_id, self._base.said(slide_id), None, self._upload.said(slide_id), detail)
        for slide_id in was:
            if slide_id not in now and slide_id in here:
                said = self._base.said(slide_id)
                yield Conflict(slide_id, said, self._head.said(slide_id), None, "the upload has deleted a slide")
        orders = [[one for one in slides if one in was and one in now] for slides in (was, now)]
        if orders[0] != orders[1]:
            moved = next(one for one, other in zip(orders[1], orders[0], strict=True) if one != other)
            yield Conflict(moved, None, None, None, "the upload has put slides in another order")

    def _differs(self, slide_id: str) -> bool:
        before, after = self._base.units(slide_id), self._upload.units(slide_id)
        return [one.roughly for one in before] != [one.roughly for one in after]

    def _states(self, slides: list[str]) -> States:
        shows = (self._base, self._head, self._upload)
        base, head, upload = ([unit for slide_id in slides for unit in show.units(slide_id)] for show in shows)
        return states_of({one.id: one for one in base}, head, upload, [show.package for show in shows])

    def _warnings(self, slides: list[str], *, is_exact: bool) -> Iterator[EditWarning]:
        if not is_exact:
            yield written_anew()
        yield from properties_differing(self._base.package, self._upload.package)
        for slide_id in slides:
            was, now = (dict(show.beside(slide_id, is_exact=is_exact)) for show in (self._base, self._upload))
            for what, said in now.items():
                if was[what] != said:
                    detail = f"the upload has changed of this slide: {what}; that is not merged, it stays as it is"
                    yield EditWarning(NOT_MERGED, detail, slide_id)

    def _apply(self, slide_id: str, plan: Plan) -> None:
        slide = self._head.slides[slide_id]
        root = self._head.package.tree(slide.part)
        tree = shape_tree(root)
        for unit in plan.removed:
            take_off(self._head.package, slide, unit.source)
            drop_parts(self._head.package, slide, unit.source)
            self._made.removed.append(unit.id)
        last: Element | None = None
        for piece in plan.pieces:
            here: Element | None = None if piece.head is None else piece.head.source
            if piece.upload is not None:
                here = self._carried(slide_id, piece.upload, here)
                (self._made.added if piece.head is None else self._made.changed).append(
                    f"{slide_id}.{_number(here)}" if piece.head is None else piece.head.id
                )
            assert here is not None  # noqa: S101 - a piece is of one of the two
            if piece.is_moved and piece.head is not None:
                self._made.moved.append(piece.head.id)
            if piece.head is None or piece.is_moved:
                _put(tree, here, last)
            last = here
        self._head.package.changed(slide.part)

    def _carried(self, slide_id: str, unit: Unit, known: Element | None) -> Element:
        """Return a copy of a shape as the head's slide can hold it, in place of the one that it is."""
        slide: Slide = self._head.slides[slide_id]
        root = self._head.package.tree(slide.part)
        copy: Element = deepcopy(unit.source)
        copy.tail = None
        try:
            carry_relations(copy, self._upload.arrows(slide_id), self._upload.package, self._head.package, slide.part)
            _renumber(copy, known, root)
            if known is None and next(copy.iter(*_GLUE), None) is not None:
                _refuse_to_carry("it is a new connector that is tied to shapes")
        except CannotCarryError as error:
            raise MergeConflictError([Conflict(unit.id, None, None, unit.said, str(error))]) from None
        if known is not None:
            parent = known.getparent()
            assert parent is not None  # noqa: S101 - it lies on the slide
            parent.replace(known, copy)
            drop_parts(self._head.package, slide, known)
        return copy

    def _check(self, plans: dict[str, Plan]) -> None:
        made = Show(self._head.document)
        for slide_id, plan in plans.items():
            if plan.is_nothing:
                continue
            expected, units = [piece.result for piece in plan.pieces], made.units(slide_id)
            wrong = next(
                (one for one, other in zip(expected, units, strict=False) if one.exactly != other.exactly), None
            )
            if len(expected) != len(units):
                wrong = wrong or expected[-1]
            if wrong is not None:
                detail = "it would not be the same in the document as it is now"
                _refuse([Conflict(wrong.id, None, None, wrong.said, detail)])


def _refuse(conflicts: list[Conflict]) -> None:
    if conflicts:
        raise MergeConflictError(conflicts)


def _refuse_to_carry(message: str) -> None:
    raise CannotCarryError(message)


def _renumber(copy: Element, known: Element | None, root: Element) -> None:
    """Have a copy and what is in it be numbered as what it comes in place of; what is new gets new numbers."""
    free = [] if known is None else [one.get("id", "") for one in known.iter(ABOUT)]
    if known is not None and len(abouts := [*copy.iter(ABOUT)]) == len(free):
        for about, number in zip(abouts, free, strict=True):
            about.set("id", number)
        return
    following = next_shape_number(root)
    for about in copy.iter(ABOUT):
        if about.get("id", "") in free:
            free.remove(about.get("id", ""))
        else:
            about.set("id", str(following))
            following += 1


def _number(shape: Element) -> str:
    return next((one.get("id", "") for one in shape.iter(ABOUT)), "")


def _put(tree: Element, shape: Element, last: Element | None) -> None:
    if last is not None:
        last.addnext(shape)
        return
    own = [one for one in tree if one.tag in {p("nvGrpSpPr"), p("grpSpPr")}]
    (own[-1].addnext if own else tree.append)(shape)
