"""Letters: the fonts of cells, and of the stretches of a text that have one of their own."""

from typing import Final

from lxml import etree

from officeplane.formats.excel.looks.change import FormatChange
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_NO: Final = frozenset(("0", "false", "none"))
_ORDER: Final = {
    main(name): place
    for place, name in enumerate(
        (
            "b", "i", "strike", "condense", "extend", "outline", "shadow", "u", "vertAlign", "sz", "color", "name",
            "rFont", "family", "charset", "scheme",
        )
    )
}  # fmt: skip
_OF_THE_NAME: Final = ("family", "charset", "scheme")
FONT: Final = "name"
"""What the name of a font is called in the font of a cell."""

FONT_OF_RUN: Final = "rFont"
"""What it is called in that of a stretch of text."""


def change_letters(font: Element, change: FormatChange, name_tag: str = FONT) -> None:
    """Change what is named of a font, and bring its parts in the order in which Excel wants them."""
    for name, wanted in (("b", change.bold), ("i", change.italic), ("strike", change.strike), ("u", change.underline)):
        if wanted is not None and wanted != is_on(font, name):
            _drop(font, name)
            if wanted:
                etree.SubElement(font, main(name))
    if change.size is not None:
        _only(font, "sz").set("val", f"{change.size:g}")
    if change.color is not None:
        _only(font, "color").set("rgb", f"FF{change.color}")
    if change.font is not None and _value(font, name_tag) != change.font:
        # What is said of the old one besides, such as that it is the theme's, is not true of the new one.
        _drop(font, name_tag, *_OF_THE_NAME)
        _only(font, name_tag).set("val", change.font)
    font[:] = sorted(font, key=lambda child: _ORDER.get(str(child.tag), len(_ORDER)))


def is_on(font: Element, name: str) -> bool:
    """Tell whether a font is bold, italic and so on."""
    found = font.find(main(name))
    return found is not None and found.get("val", "1") not in _NO


def _value(font: Element, name: str) -> str | None:
    found = font.find(main(name))
    return None if found is None else found.get("val")


def _only(font: Element, name: str) -> Element:
    _drop(font, name)
    return etree.SubElement(font, main(name))


def _drop(font: Element, *names: str) -> None:
    for name in names:
        for found in font.findall(main(name)):
            font.remove(found)
