"""Choosing: which of the places at which a text stands are meant, by the node around them or by their number."""

from collections.abc import Iterable, Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.copies import is_in, original_of
from officeplane.formats.reading.detail import Detail
from officeplane.formats.word.details import BlocksSource, ParagraphSource
from officeplane.formats.word.insets import Inset
from officeplane.formats.word.names import FALLBACK
from officeplane.formats.word.story import Hit, Story
from officeplane.formats.xml import Element

_WITH_PARAGRAPHS: Final = frozenset(("text box",))


def elements_of(detail: Detail) -> set[Element]:
    """Return the elements that are a node and all below it; what holds no paragraph of a text is refused."""
    source = detail.source
    if isinstance(source, str) or (isinstance(source, Inset) and detail.kind not in _WITH_PARAGRAPHS):
        raise InvalidEditError(
            f"{detail.id!r} is a {detail.kind}, which holds no paragraphs; give the paragraph around it, or none"
        )
    return {*_elements(detail)}


def chosen_in(hits: Sequence[Hit], under: set[Element] | None) -> Sequence[Hit]:
    """Return the places in elements, and the copies of these that only old programs show."""
    if under is None:
        return hits
    return [hit for hit in hits if any(is_in(one, under) for one in (hit.paragraph, _original(hit)))]


def nth_of(found: Sequence[tuple[Story, Sequence[Hit]]], nth: int) -> list[tuple[Story, Sequence[Hit]]]:
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


def _elements(detail: Detail) -> Iterable[Element]:
    source = detail.source
    if isinstance(source, ParagraphSource):
        yield source.element
    elif isinstance(source, BlocksSource):
        yield from (block.element for block in source.blocks)
    elif isinstance(source, Inset):
        if detail.kind in _WITH_PARAGRAPHS:
            yield source.element
    elif source is not None and not isinstance(source, str):
        yield source
    for child in detail.children:
        yield from _elements(child)


def _original(hit: Hit) -> Element | None:
    """Return the paragraph that a copy is of: the one at its place in the text box that other programs show."""
    if hit.counts:
        return None
    fallback = next(hit.paragraph.iterancestors(FALLBACK), None)
    return None if fallback is None else original_of(hit.paragraph, fallback)
