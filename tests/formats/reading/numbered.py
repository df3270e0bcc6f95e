"""Numbers before the headings and items of a Word document, as a template's own lists make them."""

from typing import Any

from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

LEVELS = (("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)"), ("lowerRoman", "(%4)"))


def number_headings(document: Any) -> None:
    """Have the headings of the first two levels counted: 1. and 1.1."""
    numbering = document.part.numbering_part.element
    levels = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        + (f'<w:pStyle w:val="Heading{at + 1}"/>' if at < 2 else "")
        + f'<w:lvlText w:val="{text}"/><w:lvlJc w:val="left"/></w:lvl>'
        for at, (form, text) in enumerate(LEVELS)
    )
    abstract = parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="77">{levels}</w:abstractNum>')
    numbering.insert(0, abstract)
    numbering.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))
    for at in range(2):
        style = document.styles[f"Heading {at + 1}"].element
        style.get_or_add_pPr().append(parse_xml(f'<w:numPr {nsdecls("w")}><w:numId w:val="77"/></w:numPr>'))


def number(paragraph: Any, depth: int) -> None:
    """Put a paragraph into that list at a depth."""
    properties = paragraph._p.get_or_add_pPr()
    properties.append(parse_xml(f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{depth}"/><w:numId w:val="77"/></w:numPr>'))
