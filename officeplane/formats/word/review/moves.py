"""Moves: what was taken from one place and put in another is one change, whichever of the two is named."""

from collections.abc import Collection

from officeplane.formats.word.names import ID, NAME
from officeplane.formats.word.review.names import MOVES, RANGE_ENDS, RANGE_STARTS
from officeplane.formats.xml import Element


def moved_with(changes: Collection[Element], root: Element) -> set[Element]:
    """Return all changes of the moves that some changes are of."""
    if not any(change.tag in MOVES for change in changes):
        return set()
    names = _names(root)
    moved = {names[change] for change in changes if change in names}
    return {change for change, name in names.items() if name in moved}


def forget_settled(root: Element) -> None:
    """Take out the marks of moves of which nothing is left."""
    marks = [*root.iter(*RANGE_STARTS, *RANGE_ENDS)]
    if not marks:
        return
    open_names = set(_names(root).values())
    settled = {mark.get(ID) for mark in marks if mark.tag in RANGE_STARTS and mark.get(NAME) not in open_names}
    for mark in marks:
        parent = mark.getparent()
        if parent is not None and mark.get(ID) in settled:
            parent.remove(mark)


def _names(root: Element) -> dict[Element, str]:
    """Return the name of the move that each moved stretch is of."""
    found: dict[Element, str] = {}
    begun: dict[str | None, str] = {}
    for element in root.iter(*MOVES, *RANGE_STARTS, *RANGE_ENDS):
        if element.tag in RANGE_STARTS:
            begun[element.get(ID)] = element.get(NAME, "")
        elif element.tag in RANGE_ENDS:
            begun.pop(element.get(ID), None)
        elif begun:
            found[element] = next(reversed(begun.values()))
    return found
