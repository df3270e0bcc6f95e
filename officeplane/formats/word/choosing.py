"""Choosing: which of the places at which a text stands are meant, by the node around them or by their number."""

from collections.abc import Iterable, Sequence

from officeplane.domain.document import InvalidEditError
from officeplane.formats.copies import is_in, original_of
from officeplane.formats.search import Wanted
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.names import FALLBACK, P
from officeplane.formats.word.story import Hit, Story
from officeplane.formats.xml import Element

Places = list[tuple[Story, Sequence[Hit]]]


def places_of(wanted: Wanted, finder: Finder) -> Places:
    """Return the paragraphs of each story in which a text stands, under the node if one is named."""
    under = None if wanted.under is None else _elements_of(finder.find(wanted.under))
    found = [(story, _chosen_in(story.find(wanted), under)) for story in finder.stories.all()]
    return [(story, hits) for story, hits in found if hits]


def _elements_of(node: Found) -> set[Element]:
    """Return the elements that are a node; one that holds no paragraph of a text is refused."""
    if not any(next(element.iter(P), None) is not None for element in node.elements):
        raise InvalidEditError(
            f"{node.id!r} is a {node.kind}, which holds no paragraphs; give the paragraph around it, or none"
        )
    return {*node.elements}


def _chosen_in(hits: Sequence[Hit], under: set[Element] | None) -> Sequence[Hit]:
    """Return the places in elements, and the copies of these that only old programs show."""
    if under is None:
        return hits
    return [hit for hit in hits if any(is_in(one, under) for one in (hit.paragraph, _original(hit)))]


def nth_of(found: Places, nth: int) -> Places:
    """Return the place of a number, from 1, and its copy if there is one; nothing if there are not so many."""
    before = 0
    for story, hits in found:
        for hit in hits:
            if not hit.counts:
                continue
            if nth <= before + len(hit.matches):
                return [(story, [*_with_copies(hit, hits, nth - before - 1)])]
            before += len(hit.matches)
    return []


def _with_copies(hit: Hit, hits: Iterable[Hit], at: int) -> Iterable[Hit]:
    for one in hits:
        if (one is hit or (not one.counts and _original(one) is hit.paragraph)) and at < len(one.matches):
            yield Hit(one.block, one.paragraph, one.matches[at : at + 1], one.counts)


def _original(hit: Hit) -> Element | None:
    """Return the paragraph that a copy is of: the one at its place in the text box that other programs show."""
    if hit.counts:
        return None
    fallback = next(hit.paragraph.iterancestors(FALLBACK), None)
    return None if fallback is None else original_of(hit.paragraph, fallback)
