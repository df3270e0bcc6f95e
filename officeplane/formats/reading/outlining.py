"""Outlines: the nodes of a document as a tree, without their texts unless these are asked for."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from officeplane.formats.reading.detail import Detail
from officeplane.formats.reading.reader import Reader, found
from officeplane.formats.reading.room import Part, Room

_PAGE: Final = "page"
_LEVEL_SAID: Final = frozenset(("chapter", "section"))
"""Kinds of headings that are of one level each: the first and the second."""


class OutlineWanted(NamedTuple):
    """Which nodes to list, and how much of them to tell."""

    depth: int | None = None
    under: str | None = None
    kinds: tuple[str, ...] = ()
    texts: bool = False
    begin: int = 0
    tokens_max: int | None = None


@dataclass(slots=True)
class _Listed:
    detail: Detail
    children: list["_Listed"] = field(default_factory=list["_Listed"])
    is_alone: bool = False
    """Whether it is the only page of its heading."""


def outline(reader: Reader, wanted: OutlineWanted) -> Part:
    """Return the nodes of a document, or those below one of them, from the place on at which an answer ended."""
    tree = reader.tree
    top = tree.top if wanted.under is None else [found(reader, wanted.under)]
    listed = _below(top, wanted, wanted.depth)
    if wanted.under is not None and not any(one.detail is top[0] for one in listed):
        listed = [_Listed(top[0], listed)]
    room = Room(wanted.tokens_max)
    items: list[dict[str, Any]] = []
    made: dict[str, dict[str, Any]] = {}
    for at, (one, parent) in enumerate(_in_order(listed, None)):
        if at < wanted.begin:
            continue
        item = _told(reader, one, texts=wanted.texts)
        if one.is_alone and "marks" not in item:
            # They are those of the heading, which were told.
            item.pop("words", None)
        around = None if parent is None else made.get(parent)
        if parent is not None and around is None:
            # Its parent was told before.
            item["parent"] = parent
        if not room.takes(item):
            return Part(items, at)
        made[one.detail.id] = item
        (items if around is None else around.setdefault("children", [])).append(item)
    return Part(items, None)


def _below(details: Iterable[Detail], wanted: OutlineWanted, depth: int | None) -> list[_Listed]:
    listed: list[_Listed] = []
    if depth is not None and depth < 1:
        return listed
    for detail in details:
        is_listed = detail.kind in wanted.kinds if wanted.kinds else detail.is_coarse
        if is_listed:
            below = _below(detail.children, wanted, None if depth is None else depth - 1)
            if len(below) == 1 and below[0].detail.kind == _PAGE:
                below[0].is_alone = True
            listed.append(_Listed(detail, below))
        else:
            listed += _below(detail.children, wanted, depth)
    return listed


def _in_order(listed: Iterable[_Listed], parent: str | None) -> Iterator[tuple[_Listed, str | None]]:
    for one in listed:
        yield one, parent
        yield from _in_order(one.children, one.detail.id)


def _told(reader: Reader, one: _Listed, *, texts: bool) -> dict[str, Any]:
    detail = one.detail
    item: dict[str, Any] = {"id": detail.id, "kind": detail.kind}
    if detail.level and detail.kind not in _LEVEL_SAID:
        item["level"] = detail.level
    if detail.number:
        item["number"] = detail.number
    text = detail.text if detail.is_title else reader.said(detail) if texts else detail.name
    if text:
        item["text"] = text
    if detail.words:
        item["words"] = detail.words
    marks = Counter(detail.marks)
    for child in one.children:
        # What is in a node that is listed is told there.
        marks.subtract(child.detail.marks)
        marks.subtract([child.detail.mark] if child.detail.mark else ())
    left = {mark: count for mark, count in marks.items() if count > 0}
    if left:
        item["marks"] = left
    return item
