"""Readers: what each format tells of its nodes, so that the rest of reading is the same for all."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from officeplane.domain.document import InvalidEditError
from officeplane.domain.errors import NodeNotFoundError
from officeplane.domain.spelling import nearest_name
from officeplane.formats.blocks import Block
from officeplane.formats.reading.detail import Detail, Tree

_COMPARED_MAX = 5_000


class Searched(NamedTuple):
    """A text in which to look, and the node that says it."""

    id: str
    kind: str
    text: str
    page: str | None = None
    """The node around it that outlines list, of what is no node of the tree; of others it is looked up if need be."""
    paragraphs: tuple[tuple[int, str], ...] = ()
    """If it consists of several, each with where it begins: patterns do not go across their ends."""


class Reader(Protocol):
    """One state of a document, read in parts."""

    tree: Tree

    def at(self, node_id: str) -> Detail | None:
        """Return a node that is none of the tree, such as a range of cells by its address."""
        ...

    def said(self, detail: Detail) -> str:
        """Return what a node says with all below it, line by line, with marks for what is no text."""
        ...

    def content(self, detail: Detail, enough: int | None = None) -> str | None:
        """Return a node as CommonMark, at least `enough` characters of it; None when it has no such form."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Yield what the whole document says, as it is shown outside of its format."""
        ...

    def form(self, detail: Detail) -> dict[str, Any]:
        """Return what CommonMark cannot say of a node."""
        ...

    def searched(self, under: Detail | None) -> Iterator[Searched]:
        """Yield every text below a node, or of the whole document, in order."""
        ...

    def picture(self, detail: Detail) -> bytes | None:
        """Return the bytes of a picture; None when the file has none of it."""
        ...


def found(reader: Reader, node_id: str) -> Detail:
    """Return the node of an id; `NodeNotFoundError` when there is none."""
    detail = reader.tree.by_id.get(node_id) or reader.at(node_id)
    if detail is None:
        known = reader.tree.by_id if len(reader.tree.by_id) <= _COMPARED_MAX else ()
        raise NodeNotFoundError(node_id, nearest_name(node_id, known))
    return detail


def node_to_change(reader: Reader, node_id: str) -> Detail:
    """Return the node of an id that an edit names; that there is none is the mistake of whoever asked for the edit."""
    try:
        return found(reader, node_id)
    except NodeNotFoundError as error:
        raise InvalidEditError(str(error)) from None


def listed_around(tree: Tree, detail: Detail) -> str | None:
    """Return the id of the node around another one that outlines list."""
    around = tree.parents.get(detail.id)
    while around is not None and not around.is_coarse:
        around = tree.parents.get(around.id)
    return None if around is None else around.id


def searched_in(tree: Tree, under: Detail | None) -> Iterator[Searched]:
    """Yield the texts of a tree's nodes."""
    for detail in tree.below(under):
        text = detail.text or detail.name
        if text and (not detail.is_repeated or detail is under):
            yield Searched(detail.id, detail.kind, text)


def page_around(tree: Tree, searched: Searched) -> str | None:
    """Return the id of the node around a text that outlines list."""
    detail = None if searched.page is not None else tree.by_id.get(searched.id)
    return searched.page if detail is None else listed_around(tree, detail)
