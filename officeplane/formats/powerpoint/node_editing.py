"""Editing of nodes: slides, and what lies on them, by the ids that reading gives."""

from collections.abc import Iterator

from officeplane.domain.warning import Loss
from officeplane.formats.powerpoint import notes, reading
from officeplane.formats.powerpoint.deck import Deck
from officeplane.formats.powerpoint.removal import remove_slide
from officeplane.formats.powerpoint.slides import Slide


class NodeEditing(Deck):
    """A presentation whose nodes can be changed one by one."""

    def move_slide(self, slide_id: str, position: int) -> None:
        """Put a slide at a place among all slides without it, and into the section there."""
        slide = self._slide(slide_id)
        places = self._positions()
        section = places.section_after_move(slide, position)
        self._slides.move(slide, position)
        if section is not None:
            self._sections.enter(section, slide, self._slides.all())

    def delete_slide(self, slide_id: str) -> list[Loss]:
        """Remove a slide, its notes, and what only it used; return what is lost besides its text."""
        slide = self._slide(slide_id)
        losses = list(self._losses_with(slide))
        self._slides.remove(slide)
        self._sections.leave(slide)
        named = remove_slide(self.package, self._main, slide.part)
        for part in (slide.part, *named):
            self._texts.forget(part)
        losses += [
            Loss(f"link to {slide.id}", other.id)
            for other in self._slides.all()
            for _ in range(named.get(other.part, 0))
        ]
        return losses + [Loss(f"{slide.id} in a custom show", None)] * named.get(self._main, 0)

    def _losses_with(self, slide: Slide) -> Iterator[Loss]:
        for inset in reading.drawn_on(self.package.tree(slide.part)):
            if inset.kind != "table":  # its rows are text
                yield Loss(inset.kind, slide.id, inset.name)
        for inset in reading.comments_on(self.package, slide.part):
            yield Loss(inset.kind, slide.id, inset.name)
        beside = notes.notes_part(self.package, slide.part)
        said = "" if beside is None else " ".join(reading.lines_of(self.package.tree(beside), is_notes=True))
        if said:
            yield Loss(reading.NOTES, slide.id, said)
