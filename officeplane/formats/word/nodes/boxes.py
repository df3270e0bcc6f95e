"""Boxes: the copy of a text box that only old programs show says what the box says."""

from copy import deepcopy

from officeplane.formats.word.names import ALTERNATIVES, FALLBACK, TEXT_BOX
from officeplane.formats.xml import Element


def copy_boxes(inner: Element) -> None:
    """Bring what changed in a text box into its copy, if the element is in one."""
    box = inner if inner.tag == TEXT_BOX else next(inner.iterancestors(TEXT_BOX), None)
    around = None if box is None else next(box.iterancestors(ALTERNATIVES), None)
    if box is None or around is None or next(box.iterancestors(FALLBACK), None) is not None:
        return
    boxes = [one for one in around.iter(TEXT_BOX) if next(one.iterancestors(FALLBACK), None) is None]
    copies = [one for fallback in around.iterchildren(FALLBACK) for one in fallback.iter(TEXT_BOX)]
    if len(boxes) != len(copies):
        return
    copy = copies[boxes.index(box)]
    for old in list(copy):
        copy.remove(old)
    copy.extend(deepcopy(list(box)))
