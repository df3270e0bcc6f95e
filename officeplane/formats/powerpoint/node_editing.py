"""Editing of nodes: slides, and what lies on them, by the ids that reading gives."""

from collections.abc import Iterator, Sequence

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.blocks import Block
from officeplane.formats.powerpoint import notes, reading
from officeplane.formats.powerpoint.deck import Deck
from officeplane.formats.powerpoint.node_texts import NodeText, says
from officeplane.formats.powerpoint.nodes import SlideNode, find_node, slide_around
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH
from officeplane.formats.powerpoint.reader import NotesSource
from officeplane.formats.powerpoint.removal import remove_slide
from officeplane.formats.powerpoint.sections import Section
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.reading.detail import Detail


class NodeEditing(Deck):
    """A presentation whose nodes can be changed one by one."""

    def edit_node(self, node_id: str, content: Sequence[Block] | str, *, keep_format: bool) -> list[Loss]:
        """Put content, or a plain text, in place of what a node says; return what is lost with that."""
        section = self._section(node_id)
        if section is not None:
            if not isinstance(content, str) or not content or "\n" in content:
                raise InvalidEditError(f"{node_id!r} is a chapter: give its new name as text, in one line")
            self._sections.rename(section, content)
            return []
        node = self._node_of_text(node_id)
        if says(node, content):
            return []
        text = NodeText(self.package, node, self._room(node.slide))
        losses = text.write(content, keep_format=keep_format)
        self._texts.forget(text.part)
        return losses

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

    def _section(self, node_id: str) -> Section | None:
        return next((each for each in self._sections.all(self._slides.all()) if each.id == node_id.lower()), None)

    def _find(self, node_id: str) -> SlideNode:
        return find_node(self.package, self._main, self._slides.all(), self._room, node_id)

    def _node_of_text(self, node_id: str) -> SlideNode:
        """Return a node to write in; the notes of a slide are one even where there are none yet."""
        slide = slide_around(self._slides.all(), node_id)
        if slide is None or node_id != f"{slide.id}.{reading.NOTES}" or self._has_notes(slide):
            return self._find(node_id)
        part = notes.add_notes(self.package, self._main, slide.part)
        paragraphs = notes.notes_holder(self.package, part).findall(PARAGRAPH)
        return self._find(slide.id)._replace(
            detail=Detail(node_id, reading.NOTES, source=NotesSource(part, paragraphs))
        )

    def _has_notes(self, slide: Slide) -> bool:
        part = notes.notes_part(self.package, slide.part)
        return part is not None and any(reading.lines_of(self.package.tree(part), is_notes=True))
