"""Searching: the places on slides and in notes at which a text stands, and replacing it there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced

from officeplane.domain.document import InvalidEditError
from officeplane.formats.copies import is_in, original_of
from officeplane.formats.package import Package
from officeplane.formats.patterns.matching import Match
from officeplane.formats.powerpoint import reading
from officeplane.formats.powerpoint.notes import notes_part
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, replace, searchable
from officeplane.formats.powerpoint.reader import CellSource, NotesSource, RowSource, ShapeSource
from officeplane.formats.powerpoint.shapes import fallbacks
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.reading.detail import Detail
from officeplane.formats.search import Wanted
from officeplane.formats.xml import Element


@dataclass(frozen=True, slots=True)
class Hit:
    """A paragraph in which something was found."""

    slide_id: str
    part: str
    paragraph: Element
    matches: Sequence[Match]
    number: int | None = None
    """Which of those in its paragraph is meant, from 0; all if none is."""


class Searching:
    """Looks through the remembered texts of a presentation."""

    def __init__(self, package: Package, texts: reading.Texts) -> None:
        self._package = package
        self._texts = texts

    def hits(self, slides: Iterable[Slide], wanted: Wanted, under: set[Element] | None) -> list[Hit]:
        """Return the paragraphs in which a text stands, in elements if any are given."""
        finder = wanted.finder()
        return [
            Hit(slide.id, part, each, matches)
            for slide in slides
            for part, is_notes in parts_of(self._package, slide)
            for each, text in self._texts.of(part, is_notes=is_notes)
            if (under is None or is_in(each, under)) and (matches := finder(text))
        ]

    def replace(
        self, slides: Iterable[Slide], wanted: Wanted, replacement: str, under: set[Element] | None
    ) -> list[str]:
        """Replace a text where it is meant; return the slide of each place at which it stands in the elements."""
        replacing = wanted.replacing(replacement)
        hits, meant = self.meant(slides, wanted, under)
        for part, changed in meant.items():
            for one in changed:
                replace(one.paragraph, one.matches, replacing(one.matches))
            self._package.changed(part)
            self._texts.forget(part)
        return [hit.slide_id for hit in hits for _ in hit.matches]

    def meant(
        self, slides: Iterable[Slide], wanted: Wanted, under: set[Element] | None
    ) -> tuple[list[Hit], dict[str, list[Hit]]]:
        """Return where a text stands, and for each part where it is meant, with what older programs show of that."""
        hits = self.hits(slides, wanted, under)
        meant = hits if wanted.nth is None else [*_nth_of(hits, wanted.nth)]
        is_whole = under is None and wanted.nth is None
        found: dict[str, list[Hit]] = {}
        for part in dict.fromkeys(hit.part for hit in meant):
            changed = [hit for hit in meant if hit.part == part]
            found[part] = [*changed, *self._copies(part, changed, wanted.finder(), is_whole=is_whole)]
        return hits, found

    def _copies(
        self, part: str, changed: Iterable[Hit], finder: Callable[[str], list[Match]], *, is_whole: bool
    ) -> Iterator[Hit]:
        """Yield what older programs show of what is changed: all of it, or what stands in its place."""
        meant = {hit.paragraph: hit.number for hit in changed}
        for fallback in fallbacks(self._package.tree(part)):
            for each in fallback.iter(PARAGRAPH):
                original = None if is_whole else original_of(each, fallback)
                if not is_whole and original not in meant:
                    continue
                matches = finder(searchable(each))
                if original is not None and (number := meant[original]) is not None:
                    matches = matches[number : number + 1]
                if matches:
                    yield Hit("", part, each, matches)


def parts_of(package: Package, slide: Slide) -> list[tuple[str, bool]]:
    """Return the parts that hold a slide's text; True for notes."""
    beside = notes_part(package, slide.part)
    return [(slide.part, False)] if beside is None else [(slide.part, False), (beside, True)]


def elements_of(detail: Detail, package: Package) -> set[Element]:
    """Return the elements that are a node and all below it; what says nothing that is searched is refused."""
    found = {*_elements(detail, package)}
    if not found:
        raise InvalidEditError(f"{detail.id!r} is a {detail.kind}, which has no paragraphs; give the slide around it")
    return found


def _elements(detail: Detail, package: Package) -> Iterator[Element]:
    match detail.source:
        case Slide(part=part):
            yield package.tree(part)
        case ShapeSource(shape=shape):
            yield shape
        case NotesSource(paragraphs=paragraphs):
            yield from paragraphs
        case RowSource(row=row):
            yield row
        case CellSource(cell=cell):
            yield cell
        case _:
            pass
    for child in detail.children:
        yield from _elements(child, package)


def _nth_of(hits: Iterable[Hit], nth: int) -> Iterator[Hit]:
    """Yield the place of a number, from 1; nothing if there are not so many."""
    before = 0
    for hit in hits:
        at = nth - before - 1
        if 0 <= at < len(hit.matches):
            yield replaced(hit, matches=hit.matches[at : at + 1], number=at)
        before += len(hit.matches)
