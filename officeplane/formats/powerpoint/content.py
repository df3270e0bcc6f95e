"""Content: blocks as the paragraphs of a text on a slide."""

from collections.abc import Iterable, Iterator
from typing import Final

from officeplane.formats.blocks import Block, Code, Heading, Item, Line, Paragraph, Quote, Rule, Span, Table
from officeplane.formats.powerpoint.names import a, alone, under
from officeplane.formats.powerpoint.runs import Links, write_line
from officeplane.formats.xml import Element

_DEEPEST: Final = 8
_START_MAX: Final = 32_767
STEP: Final = 342_900
"""How much further right each level of a list begins."""

HANGING: Final = 285_750
"""How far the sign of an item hangs out to the left of its text."""


def paragraphs(blocks: Iterable[Block], links: Links, base: Element | None, *, has_bullets: bool) -> list[Element]:
    """Return the paragraphs of all blocks but tables; `has_bullets` tells whether the text has them by itself."""
    texts = [block for block in blocks if not isinstance(block, Table)]
    return [
        paragraph(block, start, links, base, has_bullets=has_bullets)
        for block, start in zip(texts, starts(texts), strict=True)
    ]


def starts(blocks: Iterable[Block]) -> Iterator[int]:
    """Yield for each block where PowerPoint has to begin to count: anew after what stands between items."""
    numbers: dict[int, int] = {}
    begins: dict[int, int] = {}
    for block in blocks:
        if not isinstance(block, Item):
            begins.clear()
            yield 1
            continue
        depth = block.depth
        numbers[depth] = block.start if block.begins_list else numbers.get(depth, 0) + 1
        begins = {
            known: start for known, start in begins.items() if known < depth or (known == depth and block.ordered)
        }
        if block.begins_list:
            begins[depth] = block.start
        yield begins.setdefault(depth, numbers[depth])


def paragraph(block: Block, start: int, links: Links, base: Element | None, *, has_bullets: bool) -> Element:
    """Return the paragraph of a block; `start` is the number at which its list begins to be counted."""
    made = alone(a("p"))
    attributes: dict[str, str] = {}
    line: Line = ()
    match block:
        case Item():
            _item(made, block, start, has_bullets=has_bullets)
            line = block.line
        case Heading():
            _flush_left(made)
            line, attributes = block.line, {"b": "1"}
        case Quote():
            _flush_left(made, indented=True)
            line, attributes = block.line, {"i": "1"}
        case Code():
            _flush_left(made)
            line = (Span(block.text.rstrip("\n"), code=True),)
        case Paragraph():
            _flush_left(made)
            line = block.line
        case Rule() | Table():
            _flush_left(made)
    write_line(made, line, links, base, attributes)
    return made


def _flush_left(made: Element, *, indented: bool = False) -> None:
    properties = under(made, a("pPr"), marL=str(STEP) if indented else "0", indent="0")
    under(properties, a("buNone"))


def _item(made: Element, item: Item, start: int, *, has_bullets: bool) -> None:
    depth = min(item.depth, _DEEPEST)
    if has_bullets and not depth and not item.ordered:
        return
    properties = under(made, a("pPr"))
    if not has_bullets:
        properties.set("marL", str(STEP * depth + HANGING))
        properties.set("indent", str(-HANGING))
    if depth:
        properties.set("lvl", str(depth))
    if item.ordered:
        under(properties, a("buFont"), typeface="+mj-lt")
        counted = under(properties, a("buAutoNum"), type="arabicPeriod")
        if 1 < start <= _START_MAX:
            counted.set("startAt", str(start))
    elif not has_bullets:
        under(properties, a("buFont"), typeface="Arial")
        under(properties, a("buChar"), char="•")
