"""Showing: one node with what it says, what is around it and what is in it."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from officeplane.formats.reading.detail import Detail
from officeplane.formats.reading.reader import Reader, found, listed_around
from officeplane.formats.reading.room import TOKEN_BYTES, Room, cut

_PREVIEW: Final = 60
_DEPTH_MAX: Final = 1_000


class NodeWanted(NamedTuple):
    """Which node to show, and how much of what is in it."""

    id: str
    depth: int = 1
    form: bool = False
    begin: int = 0
    tokens_max: int | None = None


class NodeShown(NamedTuple):
    """A node, and where in its content the next answer begins if there is more."""

    node: dict[str, Any]
    next: int | None


def node(reader: Reader, wanted: NodeWanted) -> NodeShown:
    """Return a node as CommonMark, with its neighbours; its children as far down as is wanted while there is room."""
    detail = found(reader, wanted.id)
    enough = None if wanted.tokens_max is None else wanted.begin + wanted.tokens_max * TOKEN_BYTES
    content = reader.content(detail, enough)
    told, following = ("", None) if content is None else cut(content, wanted.begin, wanted.tokens_max)
    shown = _told(reader, detail, form=wanted.form)
    if content is not None:
        shown["content"] = told
    parent = reader.tree.parents.get(detail.id)
    if parent is not None:
        shown["parent"] = {"id": parent.id, "kind": parent.kind}
    around = listed_around(reader.tree, detail)
    if around is not None and (parent is None or around != parent.id):
        shown["page"] = around
    if detail.id in reader.tree.by_id:
        beside = reader.tree.siblings(detail)
        at = beside.index(detail)
        if at > 0:
            shown["previous"] = _neighbour(beside[at - 1])
        if at + 1 < len(beside):
            shown["following"] = _neighbour(beside[at + 1])
    room = Room(wanted.tokens_max)
    room.takes_bytes(len(told.encode("utf-8", "surrogatepass")) + 40 * TOKEN_BYTES)
    children, is_whole = _children(reader, detail.children, wanted, wanted.depth, room)
    if children:
        shown["children"] = children
    if not is_whole:
        shown["childrenLeftOut"] = True
    return NodeShown(shown, following)


def whole(reader: Reader) -> list[dict[str, Any]]:
    """Return all nodes of a document with all below them; `TooLargeToShowError` if that is more than is shown."""
    everything = NodeWanted("", form=True)
    told, _ = _children(reader, reader.tree.top, everything, _DEPTH_MAX, Room(None))
    return told


def _children(
    reader: Reader, details: Sequence[Detail], wanted: NodeWanted, depth: int, room: Room
) -> tuple[list[dict[str, Any]], bool]:
    told: list[dict[str, Any]] = []
    if depth < 1:
        return told, True
    for detail in details:
        item = _told(reader, detail, form=wanted.form)
        if detail.text:
            item["text"] = detail.text
        if not room.takes(item):
            return told, False
        told.append(item)
        below, is_whole = _children(reader, detail.children, wanted, depth - 1, room)
        if below:
            item["children"] = below
        if not is_whole:
            return told, False
    return told, True


def _told(reader: Reader, detail: Detail, *, form: bool) -> dict[str, Any]:
    item: dict[str, Any] = {"id": detail.id, "kind": detail.kind}
    if detail.level:
        item["level"] = detail.level
    if detail.number:
        item["number"] = detail.number
    if detail.name:
        item["name"] = detail.name
    if detail.is_title and detail.text:
        item["text"] = detail.text
    if detail.words:
        item["words"] = detail.words
    if detail.marks:
        item["marks"] = dict(detail.marks)
    if detail.facts:
        item["facts"] = detail.facts
    if form and (said := reader.form(detail)):
        item["format"] = said
    return item


def _neighbour(detail: Detail) -> dict[str, Any]:
    item = {"id": detail.id, "kind": detail.kind}
    text = " ".join((detail.text or detail.name)[: 4 * _PREVIEW].split())
    if text:
        item["text"] = text if len(text) <= _PREVIEW else text[: _PREVIEW - 1] + "…"
    return item
