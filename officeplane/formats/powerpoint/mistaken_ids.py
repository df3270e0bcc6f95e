"""Mistaken ids: nodes of the outline that are named where a slide is wanted."""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.reading import children_of
from officeplane.formats.powerpoint.slides import Slide

_INSTEAD: Final = {
    "text": "; replace_text, fill_template and edit_slide change texts",
    "notes": "; set_notes writes them",
}


def refuse_parts_of_slides(package: Package, slides: Sequence[Slide], node_id: str) -> None:
    """Refuse the node of something on a slide: say what it is, and what to name."""
    slide = next((one for one in slides if node_id.startswith(f"{one.id}.")), None)
    if slide is None:
        return
    for node in children_of(package, slide.part, slide.id):
        if node.id == node_id:
            raise InvalidEditError(
                f"{node_id!r} is a {node.kind} on the slide {slide.id!r}: give the id of a slide"
                f"{_INSTEAD.get(node.kind, '')}"
            )
