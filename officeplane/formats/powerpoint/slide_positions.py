"""Slide positions: where in a presentation, and in which section, a slide goes."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.powerpoint.sections import Section
from officeplane.formats.powerpoint.slides import Slide

_LAST: Final = sys.maxsize


@dataclass(frozen=True, slots=True)
class SlidePosition:
    """Before which slide, and in which section."""

    index: int
    section: Section | None


class SlidePositions:
    """The slides and sections as they are, to find places among them."""

    def __init__(
        self, slides: Sequence[Slide], sections: Sequence[Section], is_header: Callable[[Slide], bool]
    ) -> None:
        self._slides = slides
        self._sections = sections
        self._is_header = is_header

    def of_page(self, section_id: str | None, position: int | None) -> SlidePosition:
        """Return the place at a position in a section, or among all slides; the end when it is beyond."""
        if section_id is None:
            return self._among_all(position)
        section = self._section(section_id)
        if section is not None:
            return SlidePosition(self._index(section, position), section)
        header = next((slide for slide in self._slides if slide.id == section_id), None)
        if header is None:
            raise InvalidEditError(f"there is no section {section_id!r}: the outline lists the sections there are")
        if not self._is_header(header):
            raise InvalidEditError(
                f"{section_id!r} is a slide, not a section: give the id of a chapter or of a section"
            )
        return self._below(header, position)

    def of_header(self, chapter_id: str | None, position: int | None) -> SlidePosition:
        """Return the place before a section header by its position among those of a chapter, or of all."""
        section = None if chapter_id is None else self._section(chapter_id)
        if chapter_id is not None and section is None:
            if any(slide.id == chapter_id for slide in self._slides):
                raise InvalidEditError(f"{chapter_id!r} is a slide, not a chapter: give the id of a chapter")
            raise InvalidEditError(f"there is no chapter {chapter_id!r}: the outline lists the chapters there are")
        headers = [slide for slide in (self._slides if section is None else section.slides) if self._is_header(slide)]
        if position is None or position >= len(headers):
            return self._among_all(None) if section is None else SlidePosition(self._index(section, None), section)
        following = headers[position]
        return SlidePosition(self._slides.index(following), self._holding(following))

    def beside(self, slide: Slide, *, is_after: bool) -> SlidePosition:
        """Return the place right before or after a slide, in its section."""
        return SlidePosition(self._slides.index(slide) + is_after, self._holding(slide))

    def section_after_move(self, slide: Slide, position: int) -> Section | None:
        """Return the section of a slide once it was moved: its own if that is there, or that of the slide before it."""
        own = self._holding(slide)
        if own is None:
            return None
        others = [other for other in self._slides if other is not slide]
        at = min(position, len(others))
        before, after = ([self._holding(other) for other in some] for some in (others[:at][-1:], others[at : at + 1]))
        begin, end = (self._rank(some[0] if some else None, default) for some, default in ((before, 0), (after, _LAST)))
        return own if begin <= self._rank(own, 0) <= end else (*before, *after)[0]

    def _rank(self, section: Section | None, default: int) -> int:
        return default if section is None else self._sections.index(section)

    def _among_all(self, position: int | None) -> SlidePosition:
        if position is None or position >= len(self._slides):
            return SlidePosition(len(self._slides), self._sections[-1] if self._sections else None)
        beside = self._slides[max(position - 1, 0)]
        return SlidePosition(position, self._holding(beside))

    def _below(self, header: Slide, position: int | None) -> SlidePosition:
        section = self._holding(header)
        run = list(self._slides if section is None else section.slides)
        pages: list[Slide] = []
        for slide in run[run.index(header) + 1 :]:
            if self._is_header(slide):
                break
            pages.append(slide)
        last = pages[-1] if pages else header
        if position is not None and position < len(pages):
            return SlidePosition(self._slides.index(pages[position]), section)
        return SlidePosition(self._slides.index(last) + 1, section)

    def _index(self, section: Section, position: int | None) -> int:
        """Return the place in the presentation of a position in a section, which may be empty."""
        if position is not None and position < len(section.slides):
            return self._slides.index(section.slides[position])
        before = self._sections[: self._sections.index(section) + 1]
        return max((self._slides.index(each.slides[-1]) + 1 for each in before if each.slides), default=0)

    def _section(self, section_id: str) -> Section | None:
        return next((section for section in self._sections if section.id == section_id.lower()), None)

    def _holding(self, slide: Slide) -> Section | None:
        return next((section for section in self._sections if slide in section.slides), None)
