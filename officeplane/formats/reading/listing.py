"""Lists: the changes, comments, pictures or sheets of a document, each with what is said of it."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from officeplane.formats.reading.detail import Detail
from officeplane.formats.reading.reader import Reader, found, listed_around
from officeplane.formats.reading.room import Part, Room

KINDS: Final[Mapping[str, frozenset[str]]] = {
    "changes": frozenset(("change",)),
    "comments": frozenset(("comment",)),
    "images": frozenset(("picture",)),
    "sheets": frozenset(("sheet", "name")),
}
"""What may be listed, and the kinds of its nodes."""


class ListWanted(NamedTuple):
    """What to list, and where."""

    what: str
    under: str | None = None
    begin: int = 0
    tokens_max: int | None = None


def listed(reader: Reader, wanted: ListWanted) -> Part:
    """Return the nodes of these kinds in order, from the one on at which an answer ended."""
    under = None if wanted.under is None else found(reader, wanted.under)
    details = [detail for detail in reader.tree.below(under) if detail.kind in KINDS[wanted.what]]
    room = Room(wanted.tokens_max)
    items: list[dict[str, Any]] = []
    for at, detail in enumerate(details[wanted.begin :], wanted.begin):
        item = _told(reader, detail)
        if not room.takes(item):
            return Part(items, at)
        items.append(item)
    return Part(items, None)


def _told(reader: Reader, detail: Detail) -> dict[str, Any]:
    item: dict[str, Any] = {"id": detail.id, "kind": detail.kind}
    if detail.name:
        item["name"] = detail.name
    if detail.text:
        item["text"] = detail.text
    item |= detail.facts
    if detail.kind == "picture":
        item |= reader.form(detail)
    if detail.kind == "sheet":
        item |= _of_sheet(detail)
    parent = reader.tree.parents.get(detail.id)
    around = listed_around(reader.tree, detail)
    if parent is not None:
        item["parent"] = parent.id
    if around is not None and (parent is None or around != parent.id):
        item["page"] = around
    return item


def _of_sheet(detail: Detail) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for child in detail.children:
        if child.kind == "range":
            said["range"] = child.name
        elif child.kind == "table":
            said.setdefault("tables", []).append({"id": child.id, **child.facts})
        elif child.kind == "chart":
            said.setdefault("charts", []).append({"id": child.id, "name": child.name})
    return said
