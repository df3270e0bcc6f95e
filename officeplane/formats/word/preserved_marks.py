"""Preserved marks: what has to stay when the text around it goes.

Bookmarks that others refer to, the ends of stretches that reach further, comments
of other people, and the ends of Word's sections with their paper and their headers.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.bookmarks import RANGE_MARKS, node_of
from officeplane.formats.word.names import (
    BOOKMARK_END,
    BOOKMARK_START,
    COMMENT_REFERENCE,
    ID,
    P_PR,
    R_PR,
    SECT_PR,
    element,
    w,
    with_section,
)  # fmt: skip
from officeplane.formats.xml import Element

_FIELD: Final = w("fldChar")
_FIELD_TYPE: Final = w("fldCharType")


@dataclass(frozen=True, slots=True)
class PreservedMarks:
    """What stays of a stretch: marks, references of comments, and sections' ends."""

    marks: list[Element]
    references: list[Element]
    breaks: list[Element]

    def paragraphs_with_breaks(self) -> list[Element]:
        """Return an empty paragraph for each section's end."""
        return [with_section(section) for section in self.breaks]

    def settle_in(self, paragraph: Element, *, at_end: bool) -> None:
        """Put marks and references into a paragraph that stays."""
        kept = [*self.marks, *self.references]
        if at_end:
            paragraph.extend(kept)
            return
        properties = paragraph.find(P_PR)
        at = 0 if properties is None else paragraph.index(properties) + 1
        paragraph[at:at] = kept


def marks_to_preserve(elements: Sequence[Element]) -> PreservedMarks:
    """Return what stays of elements that are about to go; their own nodes' bookmarks do not."""
    marks: list[Element] = []
    references: list[Element] = []
    breaks: list[Element] = []
    ours = _own_marks(elements)
    for top in elements:
        for found in top.iter(*RANGE_MARKS, COMMENT_REFERENCE, SECT_PR):
            if found.tag == COMMENT_REFERENCE:
                references.append(_reference(found))
            elif found.tag == SECT_PR:
                # What a tracked change says of an older section is no section.
                parent = found.getparent()
                if parent is not None and parent.tag == P_PR:
                    breaks.append(deepcopy(found))
            elif found not in ours:
                marks.append(_mark(found))
    return PreservedMarks(marks, references, breaks)


def check_fields(elements: Sequence[Element]) -> None:
    """Refuse to take out half a field."""
    depth = 0
    for top in elements:
        for mark in top.iter(_FIELD):
            depth += {"begin": 1, "end": -1}.get(mark.get(_FIELD_TYPE, ""), 0)
            if depth < 0:
                break
    if depth != 0:
        raise InvalidEditError(
            "a field, such as a table of contents, reaches out of the page: edit it in Word, or name all of its pages"
        )


def _own_marks(elements: Sequence[Element]) -> set[Element]:
    """Return the bookmarks of nodes that lie wholly in what goes."""
    starts = {mark.get(ID): mark for top in elements for mark in top.iter(BOOKMARK_START) if node_of(mark) is not None}
    ends = {mark.get(ID): mark for top in elements for mark in top.iter(BOOKMARK_END) if mark.get(ID) in starts}
    return {*ends.values(), *(starts[number] for number in ends)}


def _mark(found: Element) -> Element:
    kept = deepcopy(found)
    kept.tail = None
    # Columns of a table that is gone mean nothing.
    for name in ("colFirst", "colLast"):
        kept.attrib.pop(w(name), None)
    return kept


def _reference(found: Element) -> Element:
    made = element("r")
    run = found.getparent()
    properties = None if run is None else run.find(R_PR)
    if properties is not None:
        made.append(deepcopy(properties))
    reference = deepcopy(found)
    reference.tail = None
    made.append(reference)
    return made
