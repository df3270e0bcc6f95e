"""Bookmarks: how a document remembers the ids of its nodes, in hidden bookmarks as Word itself makes them."""

from typing import Final

from officeplane.formats.word.names import BOOKMARK_END, BOOKMARK_START, ID, NAME, element, w
from officeplane.formats.xml import Element

_PREFIX: Final = "_op_"
_NUMBER_MAX: Final = 2**31 - 2
HEADINGS: Final = ("chapter-", "section-")
"""How the ids of nodes begin that are headings rather than content."""

RANGE_MARKS: Final = frozenset(
    w(f"{name}{end}")
    for name in (
        "bookmark", "commentRange", "perm", "moveFromRange", "moveToRange", "customXmlInsRange", "customXmlDelRange",
        "customXmlMoveFromRange", "customXmlMoveToRange",
    )
    for end in ("Start", "End")
)  # fmt: skip
"""What begins or ends a stretch of the text without being text."""


def node_of(mark: Element) -> str | None:
    """Return the id of the node that a bookmark is about, or None when it is somebody else's."""
    name = mark.get(NAME, "")
    return name.removeprefix(_PREFIX).replace("_", "-", 1) if name.startswith(_PREFIX) else None


def name_of(node_id: str) -> str:
    """Return what the bookmark of a node is called."""
    # Word takes no hyphens in names of bookmarks.
    return _PREFIX + node_id.replace("-", "_")


def around(node_id: str, number: int) -> tuple[Element, Element]:
    """Return the beginning and the end of the bookmark for a node."""
    return element("bookmarkStart", id=str(number), name=name_of(node_id)), element("bookmarkEnd", id=str(number))


def number_of(mark: Element) -> int:
    """Return the number that ties a mark's beginning to its end, or -1 when it is none."""
    try:
        return int(mark.get(ID, ""))
    except ValueError:
        return -1


def free_number(highest: int, root: Element) -> int:
    """Return a number for a new bookmark, above the highest unless there is none above it."""
    if highest < _NUMBER_MAX:
        return highest + 1
    taken = {number_of(mark) for mark in root.iter(BOOKMARK_START, BOOKMARK_END)}
    return next(number for number in range(_NUMBER_MAX) if number not in taken)
