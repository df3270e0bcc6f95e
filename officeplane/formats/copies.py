"""Copies: paragraphs that a file has twice, for programs that show what they know and for older ones."""

from officeplane.formats.xml import Element


def original_of(copy: Element, fallback: Element) -> Element | None:
    """Return the paragraph that one for older programs is a copy of: the one at its place in what others show."""
    shown = next(fallback.itersiblings(preceding=True), None)
    if shown is None:
        return None
    tag = str(copy.tag)
    copies, originals = [*fallback.iter(tag)], [*shown.iter(tag)]
    return originals[copies.index(copy)] if len(copies) == len(originals) else None


def is_in(paragraph: Element | None, elements: set[Element]) -> bool:
    """Tell whether a paragraph is one of these elements or in one."""
    return paragraph is not None and (
        paragraph in elements or any(around in elements for around in paragraph.iterancestors())
    )
