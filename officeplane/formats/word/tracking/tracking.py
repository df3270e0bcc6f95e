"""Tracking: an edit is done, and what it has done is written as tracked changes.

An edit need not know of this. Before it changes a text for the first time, what the text
was is kept; when it is done, both are compared, what went is put back, and what came and
went is marked.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final, Self

from officeplane.domain.document import InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.word.finder import Found
from officeplane.formats.word.names import SDT, TBL, TC, TEXT_BOX, TR, P, w
from officeplane.formats.word.nodes.inserting import node_id_of
from officeplane.formats.word.stories import Stories
from officeplane.formats.word.story import Story
from officeplane.formats.word.tracking.blocks import track_blocks
from officeplane.formats.word.tracking.ledger import Ledger
from officeplane.formats.word.tracking.pencil import Pencil
from officeplane.formats.word.tracking.proof import check
from officeplane.formats.word.tracking.stretch import changed_stretch
from officeplane.formats.xml import Element

_KNOWN: Final = (P, TBL, TR, TC, SDT, TEXT_BOX, w("footnote"), w("endnote"))
_LINES: Final = frozenset(("paragraph", "heading", "item", "chapter", "section"))


@dataclass(frozen=True, slots=True)
class Before:
    """What a text was before the edit."""

    story: Story
    container: Element
    twins: dict[Element, Element]
    headings: dict[Element, str]
    """The ids of headings that come from what they say."""


class Tracking:
    """Keeps what texts were, from the moment that they are about to change; while it is entered."""

    def __init__(self, package: Package, stories: Stories, find: Callable[[str], Found | None], pencil: Pencil) -> None:
        self._package = package
        self._stories = stories
        self._find = find
        self._pencil = pencil
        self._before: dict[Element, Before] = {}
        self._times: dict[str, int] = {}

    def __enter__(self) -> Self:
        """Begin to keep."""
        self._times = {story.part: self._package.times_changed(story.part) for story in self._stories.all()}
        self._stories.about_to_change = self._keep
        return self

    def __exit__(self, *_: object) -> None:
        """Keep no more."""
        self._stories.about_to_change = None

    def write(self, maker: str, ids: Sequence[str]) -> tuple[list[str], list[str]]:
        """Write what was done as tracked changes; return what nodes are called now, and the changes.

        `maker` is the task in whose name new paragraphs are, `ids` are the nodes that the edit tells of.
        """
        for story in self._stories.all():
            if story.root not in self._before and self._package.times_changed(story.part) != self._times[story.part]:
                raise InvalidEditError(f"what changes in {story.part} cannot be tracked: use changeMode direct")
        self._pencil.learn(story.root for story in self._stories.all())
        known = [self._find(node_id) for node_id in ids]
        became: dict[Element, Element] = {}
        for before in self._before.values():
            became |= self._track(before, maker)
        told = [
            self._id_now(node_id, None if found is None else became.get(found.element, found.element), found)
            for node_id, found in zip(ids, known, strict=True)
        ]
        return told, [f"change-{number}" for number in self._pencil.given]

    def _keep(self, story: Story) -> None:
        if story.root in self._before:
            return
        copy = deepcopy(story.root)
        twins = dict(zip(story.root.iter(*_KNOWN), copy.iter(*_KNOWN), strict=True))
        is_whole = story.container is story.root
        container = copy if is_whole else copy[story.root.index(story.container)]
        places = self._stories.body.structure.by_id.values() if story is self._stories.body.story else ()
        headings = {
            story.blocks[place.begin].paragraph: place.id for place in places if place.is_heading and place.is_derived
        }
        self._before[story.root] = Before(story, container, twins, headings)

    def _track(self, before: Before, maker: str) -> dict[Element, Element]:
        story = before.story
        ledger = Ledger(self._pencil, story.root, before.twins)
        stretch = changed_stretch(ledger, story.container, before.container)
        if stretch is None:
            return {}
        track_blocks(ledger, story.container, before.container)
        ledger.complete_marks(before.container)
        tracked = stretch.of(story.container)
        check(self._pencil, tracked, stretch.now, stretch.was)
        story.reread(set(tracked))
        self._keep_headings(before, ledger)
        story.name(maker)
        return ledger.became

    def _keep_headings(self, before: Before, ledger: Ledger) -> None:
        """Have headings keep the ids that came from what they said, where they say it no more or are none now."""
        body = self._stories.body
        lost: list[tuple[Element, str]] = []
        for one, node_id in before.headings.items():
            place = body.structure.by_id.get(node_id)
            twin = before.twins[one]
            if twin in ledger.back:
                lost.append((twin, node_id))
            elif place is None and next(one.iterancestors(), None) is not None:
                lost.append((one, node_id))
        if lost:
            body.keep_headings(lost)

    def _id_now(self, node_id: str, element: Element | None, found: Found | None) -> str:
        if element is None or found is None or element.tag not in {P, TBL, TR}:
            return node_id
        if found.kind in {"page", "header", "footer"} or (element.tag == P) != (found.kind in _LINES):
            return node_id
        if element.tag == TR:
            return f"r-{found.story.ids.of(element)}"
        body = self._stories.body
        if found.story is body.story:
            for place in body.structure.by_id.values():
                if place.is_heading and body.story.blocks[place.begin].paragraph is element:
                    return place.id
        return node_id if found.place is not None and element.tag == TBL else node_id_of(found.story, element)
