"""Reviewing: tracked changes are accepted or rejected, in all texts of a document."""

from dataclasses import dataclass

from officeplane.formats.word.reader import WordReader
from officeplane.formats.word.review.choosing import Choice, Chosen, chosen
from officeplane.formats.word.review.deciding import decide
from officeplane.formats.word.review.moves import forget_settled
from officeplane.formats.word.stories import Stories
from officeplane.formats.word.story import Story
from officeplane.formats.word.structure import NodePlace
from officeplane.formats.xml import Element


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What came of it: how many changes, the node around the first, and how many ends of sections are gone."""

    changes: int
    node_id: str | None
    breaks: int


def review(stories: Stories, reader: WordReader, choice: Choice, *, accept: bool) -> Reviewed:
    """Accept or reject the chosen changes."""
    found, node_id = chosen(choice, reader, stories.all())
    breaks = sum(_review(stories, one, accept=accept) for one in found)
    return Reviewed(sum(len(one.elements) for one in found), node_id, breaks)


def _review(stories: Stories, found: Chosen, *, accept: bool) -> int:
    story = found.story
    tops = {_top(element, story.container) for element in found.elements}
    stories.stamp(story)
    pages: list[str] = []
    if story is stories.body.story:
        body = stories.body
        headings = [place for place in body.structure.by_id.values() if place.is_heading and place.is_derived]
        body.remember([place for place in headings if story.blocks[place.begin].element in tops])
        pages = [place.id for place in body.structure.by_id.values() if _is_touched(place, story, tops)]
    # A paragraph whose end is gone becomes part of the next one, which may have changed too.
    after = {following for top in tops if (following := top.getnext()) is not None}
    # From the last on, so that what is inside a change is decided before it, and paragraphs join from behind.
    emptied: set[Element] = set()
    breaks = sum(decide(change, emptied, accept=accept) for change in reversed(found.elements))
    forget_settled(story.root)
    story.reread(tops | after)
    for page in pages:
        stories.body.forget_empty(page)
    return breaks


def _is_touched(place: NodePlace, story: Story, tops: set[Element]) -> bool:
    """Tell whether a page that is marked holds any of the blocks in which something is decided."""
    blocks = story.blocks[place.begin : place.end]
    return place.marks is not None and any(block.element in tops for block in blocks)


def _top(element: Element, container: Element) -> Element:
    while (parent := element.getparent()) is not None and parent is not container:
        element = parent
    return element
