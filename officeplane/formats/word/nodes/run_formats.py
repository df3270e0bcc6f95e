"""Formats of runs: what new text takes over from what it comes in place of."""

from copy import deepcopy
from typing import Final

from officeplane.formats.blocks import Span
from officeplane.formats.word.looks.properties import put
from officeplane.formats.word.names import P_PR, R_PR, VAL, R, element, value, w
from officeplane.formats.word.segments import fill_run
from officeplane.formats.xml import Element

FIXED_FONT: Final = "Courier New"
_EMPHASIS: Final = tuple(w(name) for name in ("b", "bCs", "i", "iCs", "strike", "dstrike"))
_OF_MARKS: Final = tuple(w(name) for name in ("ins", "del", "moveFrom", "moveTo", "rPrChange"))
_CODE: Final = ("courier", "consolas", "monospace", "menlo", "mono")


def base_of(run: Element | None, paragraph: Element) -> Element | None:
    """Return the properties for new text next to a run, or at the end of a paragraph without any."""
    found = paragraph.find(f"{P_PR}/{R_PR}") if run is None else run.find(R_PR)
    if found is None:
        return None
    base = deepcopy(found)
    for held in [held for held in base if held.tag in _OF_MARKS]:
        base.remove(held)
    return base


def new_run(span: Span, base: Element | None, *, is_exact: bool, link_style: str | None) -> Element:
    """Return a run of a text in a formatting; `is_exact` has it bold, leaning, struck and code as the span is."""
    run = element("r")
    properties = element("rPr") if base is None else deepcopy(base)
    if is_exact:
        _set_emphasis(properties, span)
    if link_style is not None:
        put(properties, "rPr", "rStyle", val=link_style)
    if len(properties):
        run.append(properties)
    fill_run(run, span.text)
    return run


def without_style(base: Element | None, style: str | None) -> Element | None:
    """Return properties without a style of characters, such as that of links."""
    if base is not None and style is not None and value(base, "rStyle") == style:
        base = deepcopy(base)
        for held in base.findall(w("rStyle")):
            base.remove(held)
    return base


def strip_run(run: Element, kept: str | None, *, keeps_emphasis: bool) -> None:
    """Have a run look as its style has it, but for a style of links, and for emphasis if that stays."""
    properties = run.find(R_PR)
    if properties is None:
        return
    for held in list(properties):
        is_link = kept is not None and held.tag == w("rStyle") and held.get(VAL) == kept
        is_code = held.tag == w("rFonts") and _is_fixed(held)
        if not (is_link or (keeps_emphasis and (held.tag in _EMPHASIS or is_code))):
            properties.remove(held)
    if not len(properties):
        run.remove(properties)


def run_of(leaf: Element) -> Element | None:
    """Return the run that holds a leaf."""
    parent = leaf.getparent()
    return parent if parent is not None and parent.tag == R else None


def _set_emphasis(properties: Element, span: Span) -> None:
    for held in [held for held in properties if held.tag in _EMPHASIS]:
        properties.remove(held)
    for name, is_set in (("b", span.bold), ("i", span.italic), ("strike", span.strike)):
        if is_set:
            for own in (name, f"{name}Cs")[: 1 if name == "strike" else 2]:
                put(properties, "rPr", own)
    fonts = properties.find(w("rFonts"))
    is_fixed = fonts is not None and _is_fixed(fonts)
    if fonts is not None and is_fixed != span.code:
        properties.remove(fonts)
    if span.code and not is_fixed:
        put(properties, "rPr", "rFonts", ascii=FIXED_FONT, hAnsi=FIXED_FONT, cs=FIXED_FONT)


def _is_fixed(fonts: Element) -> bool:
    return any(sign in fonts.get(w("ascii"), "").lower() for sign in _CODE)
