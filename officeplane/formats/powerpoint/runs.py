"""Runs: a line of content as stretches of formatted text in a paragraph."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Final, TypeAlias

from officeplane.formats.blocks import Line, Span
from officeplane.formats.powerpoint.names import R_ID, a, alone, under
from officeplane.formats.powerpoint.paragraphs import one_line
from officeplane.formats.xml import Element

CODE_FONT: Final = "Courier New"
_LINKS: Final = (a("hlinkClick"), a("hlinkMouseOver"))
_EMPHASIS: Final = ("b", "i", "u", "strike", "baseline")
_TOLD: Final = {"b": "0", "i": "0", "strike": "noStrike"}
"""What content tells by its signs, and the values that say no."""

_RUNS: Final = frozenset({a("r"), a("fld"), a("br")})
_FONTS: Final = (a("latin"), a("ea"), a("cs"), a("sym"))
_AFTER_FONTS: Final = (*_LINKS, a("rtl"), a("extLst"))

Links: TypeAlias = Callable[[str], str | None]
"""Gives the id of the relationship to an address; None when nothing may lead there."""


def write_line(
    paragraph: Element,
    line: Line,
    links: Links,
    base: Element | None = None,
    attributes: Mapping[str, str] | None = None,
) -> None:
    """Write a line at the end of a paragraph that has no end properties yet; `attributes` are for every run."""
    for span in line:
        formatting = _formatting(span, links, base)
        for name, value in (attributes or {}).items():
            formatting.set(name, value)
        for number, text in enumerate(one_line(span.text).split("\n")):
            if number:
                _formatted(under(paragraph, a("br")), formatting)
            if text:
                run = _formatted(under(paragraph, a("r")), formatting)
                under(run, a("t")).text = text


def base_of(text_body: Element, *, with_emphasis: bool) -> Element | None:
    """Return the formatting of the first run of a text, for the text that takes its place."""
    found = text_body.find(f"{a('p')}/{a('r')}/{a('rPr')}")
    if found is None:
        return None
    base = _without_links(found)
    if not with_emphasis:
        for name in _EMPHASIS:
            base.attrib.pop(name, None)
    return base


def base_of_paragraph(paragraph: Element, *, with_emphasis: bool) -> Element | None:
    """Return the formatting of a paragraph's first run, or of its end if it has none.

    Without emphasis bold, italics and strikes are left to the new text, and what only some of the runs have goes.
    """
    runs = [child for child in paragraph if child.tag in _RUNS]
    formats = [run.find(a("rPr")) for run in runs] or [paragraph.find(a("endParaRPr"))]
    found = formats[0]
    if found is None:
        return None
    base = _without_links(found)
    base.tag = a("rPr")
    base.attrib.pop("err", None)
    if with_emphasis:
        return base
    for name, none in _TOLD.items():
        if base.get(name, none) not in {none, "false"}:
            del base.attrib[name]
    for name in ("u", "baseline"):
        if len({None if each is None else each.get(name) for each in formats}) > 1:
            base.attrib.pop(name, None)
    return base


def _without_links(found: Element) -> Element:
    base = deepcopy(found)
    font = base.find(a("latin"))
    is_code = font is not None and font.get("typeface") == CODE_FONT
    for child in list(base):
        if child.tag in _LINKS or (is_code and child.tag in _FONTS):
            base.remove(child)
    return base


def _formatted(element: Element, formatting: Element) -> Element:
    if len(formatting) or formatting.attrib:
        element.append(deepcopy(formatting))
    return element


def _formatting(span: Span, links: Links, base: Element | None) -> Element:
    made = alone(a("rPr")) if base is None else deepcopy(base)
    if span.bold:
        made.set("b", "1")
    if span.italic:
        made.set("i", "1")
    if span.strike:
        made.set("strike", "sngStrike")
    if span.code:
        _set_font(made)
    arrow = None if span.link is None else links(span.link)
    if arrow is not None:
        link = alone(a("hlinkClick"))
        link.set(R_ID, arrow)
        _insert(made, link, (a("hlinkMouseOver"), a("rtl"), a("extLst")))
    return made


def _set_font(formatting: Element) -> None:
    for child in list(formatting):
        if child.tag in _FONTS:
            formatting.remove(child)
    for tag in (a("latin"), a("cs")):
        font = alone(tag)
        font.set("typeface", CODE_FONT)
        _insert(formatting, font, _AFTER_FONTS)


def _insert(formatting: Element, child: Element, before: tuple[str, ...]) -> None:
    for other in formatting:
        if other.tag in before:
            other.addprevious(child)
            return
    formatting.append(child)
