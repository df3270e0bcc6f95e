"""Paragraph blocks: the paragraphs of a text on a slide as the blocks that content would say them with."""

from collections.abc import Iterator, Sequence

from officeplane.formats.blocks import Item, Line, Paragraph, Span
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import R_ID, a, attribute_number
from officeplane.formats.powerpoint.paragraphs import BREAK, FIELD, RUN
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element


class ParagraphBlocks:
    """What paragraphs say; where links lead is looked up once for each part."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._links: dict[str, dict[str, str]] = {}

    def of(
        self, part: str, paragraphs: Sequence[Element], *, bulleted: bool
    ) -> Iterator[tuple[Element, Item | Paragraph | None]]:
        """Yield each paragraph with its block; None for one that says nothing."""
        was_item = False
        for paragraph in paragraphs:
            line = self._line(part, paragraph)
            if not any(span.text.strip() for span in line):
                was_item = False
                yield paragraph, None
                continue
            about = paragraph.find(a("pPr"))
            kinds = {str(child.tag) for child in (() if about is None else about)}
            counted = a("buAutoNum") in kinds
            is_item = counted or a("buChar") in kinds or (bulleted and a("buNone") not in kinds)
            depth = 0 if about is None else attribute_number(about, "lvl", 0)
            yield (
                paragraph,
                Item(line, counted, min(max(depth, 0), 8), not was_item) if is_item else Paragraph(line),
            )
            was_item = is_item

    def _line(self, part: str, paragraph: Element) -> Line:
        spans: list[Span] = []
        for child in paragraph:
            if child.tag not in {RUN, FIELD, BREAK}:
                continue
            about = child.find(a("rPr"))
            text = "\n" if child.tag == BREAK else "".join(held.text or "" for held in child.iter(a("t")))
            click = None if about is None else about.find(a("hlinkClick"))
            link = None if click is None else self._outside(part).get(click.get(R_ID, ""))
            bold, italic = (about is not None and about.get(name) in {"1", "true"} for name in ("b", "i"))
            strike = about is not None and about.get("strike", "noStrike") != "noStrike"
            spans.append(Span(text, bold, italic, strike, link=link))
        return tuple(spans)

    def _outside(self, part: str) -> dict[str, str]:
        if part not in self._links:
            self._links[part] = {
                arrow.id: arrow.target for arrow in Relationships(self._package, part) if arrow.is_external
            }
        return self._links[part]
