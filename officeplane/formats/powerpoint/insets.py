"""Insets: what stands on a slide, or in a text on it, without being text.

A link belongs to its text as long as one can read there where it leads; otherwise
nobody who has only read the text knows of it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import unquote

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import COMPATIBILITY, R_ID, a
from officeplane.formats.powerpoint.paragraphs import FIELD, text_of
from officeplane.formats.powerpoint.shapes import FRAME, PICTURE, properties, settings, table
from officeplane.formats.powerpoint.tables import graphic_uri, rows_of
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

LINK: Final = "link"
CLICKS: Final = (a("hlinkClick"), a("hlinkMouseOver"), a("hlinkHover"))
_FORMULAS: Final = frozenset(
    {f"{{{COMPATIBILITY}}}AlternateContent", "{http://schemas.microsoft.com/office/drawing/2010/main}m"}
)
_MEDIA: Final = {"videoFile": "video", "quickTimeFile": "video", "audioFile": "sound", "wavAudioFile": "sound",
                 "audioCd": "sound"}  # fmt: skip
_DRAWN: Final = {"chart": "chart", "chartex": "chart", "diagram": "diagram", "model3d": "model"}
_BARE: Final = re.compile(r"(?:https?://|mailto:)?(.*?)/?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Inset:
    """Something that is no text, and what it is called if it is called anything."""

    kind: str
    name: str = ""


def of_shape(shape: Element) -> Inset | None:
    """Return what a shape is that is not one of text: a picture, a video, a chart, a table."""
    found = table(shape)
    if found is not None:
        return Inset("table", " ".join(next(iter(rows_of(found)), "").split()))
    about = properties(shape)
    name = "" if about is None else (about.get("descr") or about.get("name") or "")
    if shape.tag == PICTURE:
        return Inset(_picture(shape), name)
    if shape.tag == FRAME and (uri := graphic_uri(shape)):
        return Inset(_DRAWN.get(uri.rsplit("/", 1)[-1], "object"), name)
    return None


class Insets:
    """What stands in the texts of one part; where links lead is looked up once: there may be thousands."""

    def __init__(self, package: Package, part: str) -> None:
        self._arrows = Relationships(package, part)

    def in_text(self, paragraphs: Iterable[Element]) -> list[Inset]:
        """Return what stands in paragraphs besides text, in order."""
        return [inset for paragraph in paragraphs for inset in self._in_paragraph(paragraph)]

    def clicked(self, shape: Element) -> list[Inset]:
        """Return where a click on a shape leads."""
        about = properties(shape)
        return [] if about is None else list(self._links(about))

    def addresses(self, paragraphs: Iterable[Element]) -> set[str]:
        """Return where the links in paragraphs lead to, as they are compared."""
        return {unquote(link.name) for paragraph in paragraphs for link in self._links(paragraph)}

    def _in_paragraph(self, paragraph: Element) -> Iterator[Inset]:
        for child in paragraph:
            if child.tag == FIELD:
                yield Inset("field", child.get("type", ""))
            elif child.tag in _FORMULAS:
                yield Inset("formula")
        shown = text_of(paragraph)
        for link in self._links(paragraph):
            bare = _BARE.fullmatch(unquote(link.name))
            if not (bare and bare[1] and bare[1] in shown):
                yield link

    def _links(self, within: Element) -> Iterator[Inset]:
        """Yield each link once, however many stretches of text it has; what leads elsewhere in the file is a jump."""
        found = {(link.get(R_ID, ""), link.get("action", "")) for link in within.iter(*CLICKS)}
        for arrow, action in sorted(found):
            if arrow in self._outside:
                yield Inset(LINK, self._outside[arrow])
            elif arrow or action:
                yield Inset("jump")

    @cached_property
    def _outside(self) -> dict[str, str]:
        return {arrow.id: arrow.target for arrow in self._arrows if arrow.is_external}


def _picture(shape: Element) -> str:
    holder = settings(shape)
    for child in () if holder is None else holder:
        if isinstance(child.tag, str) and (kind := _MEDIA.get(child.tag.rpartition("}")[2])):
            return kind
    return "picture"
