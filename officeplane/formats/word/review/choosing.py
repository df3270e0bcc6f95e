"""Choosing: which of the tracked changes a review is about."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from officeplane.domain.document import InvalidEditError
from officeplane.domain.spelling import nearest_name
from officeplane.formats.reading.detail import Detail
from officeplane.formats.reading.reader import listed_around
from officeplane.formats.word.names import AUTHOR, FALLBACK, ID
from officeplane.formats.word.reader import WordReader
from officeplane.formats.word.review.moves import moved_with
from officeplane.formats.word.review.names import CHANGES
from officeplane.formats.word.story import Story
from officeplane.formats.xml import Element


@dataclass(frozen=True, slots=True)
class Choice:
    """What of the tracked changes is wanted: all, or those of these ids, by this author, in or below this node."""

    ids: Collection[str] | None = None
    author: str | None = None
    under: str | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The changes of one story, in order, each with what belongs to it."""

    story: Story
    elements: list[Element]


def chosen(choice: Choice, reader: WordReader, stories: Iterator[Story]) -> tuple[list[Chosen], str | None]:
    """Return the changes that are wanted, by story, and the node around the first that outlines list."""
    told = _told(choice, reader)
    wanted = {_source(detail) for detail in told}
    found: list[Chosen] = []
    for story in stories:
        every = [element for element in story.root.iter(*CHANGES) if element.tag in CHANGES]
        mine = {element for element in every if element in wanted or _is_beside(element, choice)}
        if mine:
            mine |= moved_with(mine, story.root) | _copies(mine, every)
            found.append(Chosen(story, [element for element in every if element in mine]))
    if not found:
        raise InvalidEditError(_none_of(choice, {detail.facts.get("author", "") for detail in _all(reader, None)}))
    return found, next((listed_around(reader.tree, detail) for detail in told), None)


def _told(choice: Choice, reader: WordReader) -> list[Detail]:
    """Return the changes that reading tells of."""
    tree = reader.tree
    if choice.under is not None and choice.under not in tree.by_id:
        raise InvalidEditError(_unknown(choice.under, tree.by_id))
    changes = {detail.id: detail for detail in _all(reader, choice.under)}
    if choice.ids is not None:
        for node_id in choice.ids:
            if node_id not in changes:
                known = {detail.id for detail in _all(reader, None)}
                within = f", not in {choice.under!r}" if node_id in known else ""
                raise InvalidEditError(_unknown(node_id, known, within))
    return [
        detail
        for detail in changes.values()
        if (choice.ids is None or detail.id in choice.ids)
        and (choice.author is None or detail.facts.get("author") == choice.author)
    ]


def _all(reader: WordReader, under: str | None) -> list[Detail]:
    top = None if under is None else reader.tree.by_id[under]
    return [detail for detail in reader.tree.below(top) if detail.kind == "change"]


def _source(detail: Detail) -> Element:
    element: Element = detail.source.element
    return element


def _is_beside(element: Element, choice: Choice) -> bool:
    """Tell whether a change that reading does not tell of, such as one of the paper, is wanted with all others."""
    if choice.ids is not None or choice.under is not None:
        return False
    return choice.author is None or element.get(AUTHOR) == choice.author


def _copies(mine: set[Element], every: list[Element]) -> set[Element]:
    """Return the copies, for old programs, of changes in text boxes."""
    numbers = {(element.tag, element.get(ID)) for element in mine}
    return {
        element
        for element in every
        if (element.tag, element.get(ID)) in numbers and next(element.iterancestors(FALLBACK), None) is not None
    }


def _unknown(node_id: str, known: Collection[str], within: str = "") -> str:
    nearest = None if within else nearest_name(node_id, known)
    meant = "" if nearest is None else f"; did you mean {nearest!r}?"
    return f"there is no tracked change or node {node_id!r}{within}{meant} `changes` lists the changes with their ids"


def _none_of(choice: Choice, authors: set[str]) -> str:
    if choice.author is not None and choice.author not in authors:
        named = ", ".join(sorted(repr(author) for author in authors if author)) or "nobody"
        return f"no tracked change is by {choice.author!r}; there are changes by {named}"
    return "there is no tracked change to review there; `changes` lists those of the document"
