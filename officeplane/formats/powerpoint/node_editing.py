"""Editing of nodes: slides, and what lies on them, by the ids that reading gives."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning, Loss
from officeplane.formats.blocks import Block, Table
from officeplane.formats.powerpoint import notes, reading
from officeplane.formats.powerpoint.additions import Additions
from officeplane.formats.powerpoint.animations import animated
from officeplane.formats.powerpoint.comments.remarks import Remark
from officeplane.formats.powerpoint.deck import Deck
from officeplane.formats.powerpoint.insets import Insets
from officeplane.formats.powerpoint.layouts import purpose_of
from officeplane.formats.powerpoint.node_texts import NodeText, says
from officeplane.formats.powerpoint.nodes import SlideNode, slide_around
from officeplane.formats.powerpoint.page import title_and_rest
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH
from officeplane.formats.powerpoint.picture_blocks import parted
from officeplane.formats.powerpoint.reader import NotesSource, PowerPointReader, RowSource, ShapeSource
from officeplane.formats.powerpoint.removal import remove_slide
from officeplane.formats.powerpoint.sections import Section
from officeplane.formats.powerpoint.shape_copies import copied, shift
from officeplane.formats.powerpoint.shape_order import bring_to_front, is_grouped, move_beside
from officeplane.formats.powerpoint.shape_removal import drop_parts, losses_with, number_of, take_off
from officeplane.formats.powerpoint.shapes import unit
from officeplane.formats.powerpoint.slide_copies import copy_slide
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.powerpoint.table_rows import copy_row, move_row, row_number, take_out_row
from officeplane.formats.powerpoint.table_styles import table_style
from officeplane.formats.powerpoint.text_shapes import add_shape
from officeplane.formats.reading.detail import Detail
from officeplane.formats.xml import Element

NOT_COPIED: Final = "not_copied"
"""The code of what a copy has not."""


class Place(NamedTuple):
    """Where something goes: before, after or into a node."""

    word: Literal["before", "after", "into"]
    node_id: str


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

    def insert_content(self, blocks: Sequence[Block], place: Place, style: str | None) -> tuple[str, list[EditWarning]]:
        """Put content beside a slide, on it, or at the end of a text; return the id of what was made or goes on."""
        slide = next((each for each in self._slides.all() if each.id == place.node_id), None)
        has_table = any(isinstance(block, Table) for block in blocks)
        if style is not None and not has_table:
            raise InvalidEditError(f"the style {style!r} is for tables, and the content has none: leave it out")
        chosen_style = table_style(self.package, self._main, style) if has_table else ""
        if place.word == "into" and slide is not None:
            texts, pictures = parted(blocks)
            additions = Additions(self.package, slide, self._room(slide))
            additions.put(texts, chosen_style, self._brought(slide).new(pictures))
            self._texts.forget(slide.part)
            return (additions.made or [slide.id])[0], additions.warnings
        if slide is not None:
            position = self._positions().beside(slide, is_after=place.word == "after")
        elif self._section(place.node_id) is not None and place.word == "into":
            position = self._positions().of_page(place.node_id, None)
        elif place.word == "into":
            node = self._node_of_text(place.node_id)
            text = NodeText(self.package, node, self._room(node.slide))
            text.append(blocks)
            self._texts.forget(text.part)
            return node.id, []
        else:
            raise InvalidEditError(
                f"{place.node_id!r} is no slide, so nothing is put {place.word} it: with into, content goes to the end "
                "of its text; edit_node writes a text anew"
            )
        title, rest = title_and_rest(blocks)
        made = self._new(self._layout(None, purpose_of(rest), position), position)
        self._write(made, title, rest, chosen_style)
        return made.id, []

    def takes_pictures(self, node_id: str) -> bool:
        """Tell whether content for a node lies on a slide, where there is room for pictures, and not in a text."""
        return any(slide.id == node_id for slide in self._slides.all()) or self._section(node_id) is not None

    def delete_node(self, node_id: str) -> list[Loss]:
        """Take out a slide, a shape, a row or notes; return what went with it besides text."""
        slides = self._slides.all()
        if self._section(node_id) is not None:
            raise InvalidEditError(f"{node_id!r} is a chapter: delete its slides, by their ids")
        if any(slide.id == node_id for slide in slides):
            return self.delete_slide(node_id)
        node = self._find(node_id)
        slide, source = node.slide, node.detail.source
        self._texts.forget(slide.part)
        match source:
            case NotesSource():
                return self.set_notes(slide.id, "")
            case RowSource(_, row):
                insets = Insets(self.package, slide.part).in_text(row.iter(PARAGRAPH))
                take_out_row(row)
                self.package.changed(slide.part)
                return [Loss(inset.kind, slide.id, inset.name) for inset in insets]
            case ShapeSource(_, shape):
                losses = [*losses_with(self.package, slide, shape), *take_off(self.package, slide, shape)]
                drop_parts(self.package, slide, shape)
                return losses
            case _:
                instead = (
                    ": `comment` deletes it" if isinstance(source, Remark) else ", which cannot be deleted by itself"
                )
                raise InvalidEditError(f"{node_id!r} is a {node.detail.kind}{instead}")

    def move_node(self, node_id: str, place: Place) -> tuple[str, list[Loss]]:
        """Put a slide, a shape or a row elsewhere; return its id from now on, and what is lost with that."""
        slide = next((each for each in self._slides.all() if each.id == node_id), None)
        if slide is not None:
            self._move_slide_to(slide, place)
            return slide.id, []
        if self._section(node_id) is not None:
            raise InvalidEditError(f"{node_id!r} is a chapter: move its slides, by their ids")
        node = self._find(node_id)
        self._texts.forget(node.slide.part)
        if isinstance(node.detail.source, RowSource):
            return self._move_row(node, node.detail.source.row, place), []
        if node.shape is None:
            raise InvalidEditError(f"{node_id!r} is a {node.detail.kind}, which stays where it is")
        if place.word == "into":
            return self._move_shape_into(node, node.shape, place.node_id)
        beside = self._find(place.node_id)
        if beside.shape is None or beside.slide.id != node.slide.id:
            raise InvalidEditError(
                f"{place.node_id!r} is no shape on the slide of {node_id!r}: name one that is, or a slide with into"
            )
        move_beside(node.shape, beside.shape, is_after=place.word == "after")
        self.package.changed(node.slide.part)
        return node.id, []

    def duplicate_node(self, node_id: str) -> tuple[str, list[EditWarning]]:
        """Put a copy of a slide, a shape or a row right after it; return the copy's id and what is not copied."""
        slide = next((each for each in self._slides.all() if each.id == node_id), None)
        if slide is not None:
            return self._duplicate_slide(slide)
        if self._section(node_id) is not None:
            raise InvalidEditError(f"{node_id!r} is a chapter: duplicate its slides, by their ids")
        node = self._find(node_id)
        self._texts.forget(node.slide.part)
        self.package.changed(node.slide.part)
        if isinstance(node.detail.source, RowSource) and node.parent is not None:
            return f"{node.parent.id}.r{row_number(copy_row(node.detail.source.row))}", []
        shape = node.shape
        if shape is None:
            raise InvalidEditError(f"{node_id!r} is a {node.detail.kind}, which cannot be copied by itself")
        root, part = self.package.tree(node.slide.part), node.slide.part
        made = copied(self.package, part, shape, part, self._room(node.slide))
        shift(made)
        unit(shape).addnext(made)
        moving = animated(root, {str(number_of(shape))})
        told = [EditWarning(NOT_COPIED, f"{len(moving)} animations of {node_id}")] if moving else []
        return self._id_of(node.slide, made), told

    def _move_slide_to(self, slide: Slide, place: Place) -> None:
        if place.node_id == slide.id:
            raise InvalidEditError(f"{slide.id!r} cannot be moved {place.word} itself")
        positions = self._positions(place.node_id)
        if place.word == "into":
            wanted = positions.of_page(place.node_id, None)
        else:
            wanted = positions.beside(self._slide(place.node_id), is_after=place.word == "after")
        own = self._slides.all().index(slide)
        self._slides.move(slide, wanted.index - (own < wanted.index))
        if wanted.section is not None:
            self._sections.enter(wanted.section, slide, self._slides.all())

    def _move_row(self, node: SlideNode, row: Element, place: Place) -> str:
        beside = None if place.word == "into" else self._find(place.node_id).detail.source
        if not isinstance(beside, RowSource) or node.parent is None:
            raise InvalidEditError(f"{node.id!r} is a row: name another row of its table with before or after")
        if beside.row is not row:
            move_row(row, beside.row, is_after=place.word == "after")
            self.package.changed(node.slide.part)
        return f"{node.parent.id}.r{row_number(row)}"

    def _move_shape_into(self, node: SlideNode, shape: Element, slide_id: str) -> tuple[str, list[Loss]]:
        target, origin = self._slide(slide_id), node.slide
        if is_grouped(shape):
            raise InvalidEditError(f"{node.id!r} lies in a group, whose places are its own: ungroup it in PowerPoint")
        if target.id == origin.id:
            bring_to_front(self.package.tree(origin.part), shape)
            self.package.changed(origin.part)
            return node.id, []
        made = copied(self.package, origin.part, shape, target.part, self._room(origin))
        add_shape(self.package.tree(target.part), made)
        losses = take_off(self.package, origin, shape)
        drop_parts(self.package, origin, shape)
        self.package.changed(target.part)
        self._texts.forget(target.part)
        return self._id_of(target, made), losses

    def _duplicate_slide(self, slide: Slide) -> tuple[str, list[EditWarning]]:
        place = self._positions().beside(slide, is_after=True)
        made = self._slides.insert(copy_slide(self.package, self._slides, slide), place.index)
        if place.section is not None:
            self._sections.enter(place.section, made, self._slides.all())
        said = reading.comments_on(self.package, slide.part)
        return made.id, [EditWarning(NOT_COPIED, f"comment {inset.name!r}", slide.id) for inset in said]

    def _id_of(self, slide: Slide, made: Element) -> str:
        """Return the id of a shape that was just put on a slide."""
        reader = PowerPointReader(self.package, self._main, [slide], [], self._room)
        inside = {*made.iter("*")}
        found = (
            each.id
            for each in reader.tree.by_id.values()
            if isinstance(each.source, ShapeSource) and each.source.shape in inside
        )
        return next(found, slide.id)

    def set_notes(self, slide_id: str, text: str) -> list[Loss]:
        """Put a text in place of what the speaker of a slide reads; return what is lost with that."""
        slide = self._slide(slide_id)
        part, lost = notes.set_notes(self.package, self._main, slide.part, text)
        self._texts.forget(part)
        return [Loss(inset.kind, f"{slide.id}.{reading.NOTES}", inset.name) for inset in lost]

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
