"""The writer of lines: spans of text become runs of a paragraph, pictures and notes among them what they are."""

from collections.abc import Callable
from typing import Final, TypeAlias

from officeplane.formats.blocks import Line, Note, Picture, Span
from officeplane.formats.links import Links
from officeplane.formats.word.names import child, hyperlink
from officeplane.formats.word.segments import fill_run
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

_FIXED: Final = "Courier New"

Insets: TypeAlias = Callable[[Picture | Note, int], Element | None]
"""Gives the run of what is no text, in a table of so many columns, 0 outside; None of what has to be text."""


class LineWriter:
    """Fills paragraphs of one part, whose links it adds to."""

    def __init__(self, links: Links, styles: Styles, insets: Insets | None = None) -> None:
        self._links = links
        self._styles = styles
        self._insets = insets

    def fill(self, paragraph: Element, line: Line, *, bold: bool = False, columns: int = 0) -> None:
        """Write a line at the end of a paragraph."""
        address: str | None = None
        holder = paragraph
        is_link = False
        for span in line:
            inset = self._inset(span, columns)
            if inset is not None:
                paragraph.append(inset)
                address, holder, is_link = None, paragraph, False
                continue
            if isinstance(span, Picture | Note):
                span = as_text(span)  # noqa: PLW2901 - that is what it is here
            if span.link != address:
                address = span.link
                arrow = None if address is None else self._links.to(address)
                is_link = arrow is not None
                holder = paragraph if arrow is None else hyperlink(paragraph, arrow)
            self._fill_span(child(holder, "r"), span, bold=bold or span.bold, is_link=is_link)

    def _inset(self, span: Span, columns: int) -> Element | None:
        if self._insets is None or not isinstance(span, Picture | Note):
            return None
        return self._insets(span, columns)

    def _fill_span(self, run: Element, span: Span, *, bold: bool, is_link: bool) -> None:
        if bold or span.italic or span.strike or span.code or is_link:
            properties = child(run, "rPr")
            if is_link:
                child(properties, "rStyle", val=self._styles.hyperlink())
            if span.code:
                child(properties, "rFonts", ascii=_FIXED, hAnsi=_FIXED, cs=_FIXED)
            for name, is_set in (
                ("b", bold),
                ("bCs", bold),
                ("i", span.italic),
                ("iCs", span.italic),
                ("strike", span.strike),
            ):
                if is_set:
                    child(properties, name)
        fill_run(run, span.text)


def as_text(inset: Picture | Note) -> Span:
    """Return what is written in place of a picture or a note that cannot be one."""
    return Span(f"[^{inset.text}]" if isinstance(inset, Note) else inset.text)
