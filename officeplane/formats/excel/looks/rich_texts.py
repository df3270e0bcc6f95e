"""Rich texts: stretches of a cell's text with letters of their own, which follow when the cell's are changed."""

from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.formats.excel.cells.values import shared_number
from officeplane.formats.excel.looks.change import FormatChange
from officeplane.formats.excel.looks.letters import FONT_OF_RUN, change_letters
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.tags import INLINE, RUN, VALUE, main
from officeplane.formats.xml import Element

_LETTERS: Final = f"{RUN}/{main('rPr')}"


class RichTexts:
    """Changes the letters of texts; one that other cells share becomes another text for those that change."""

    def __init__(self, parts: Parts) -> None:
        self._package = parts.package
        self._strings = parts.strings
        self._part = parts.strings_part
        self._known: dict[tuple[int, FormatChange], int] = {}
        self._numbers: dict[str, int] | None = None

    def follow(self, cell: Element, change: FormatChange) -> bool:
        """Change the letters of a cell's text; tell whether the cell is another."""
        kind = cell.get("t")
        if kind == "inlineStr":
            item = cell.find(INLINE)
            return item is not None and _changed(item, change)
        number = shared_number(cell) if kind == "s" else -1
        if not 0 <= number < len(self._strings.items):
            return False
        known = self._known.get((number, change))
        if known is None:
            known = self._known[number, change] = self._other(number, change)
        value = cell.find(VALUE)
        if known == number or value is None:
            return False
        value.text = str(known)
        return True

    def _other(self, number: int, change: FormatChange) -> int:
        strings, part = self._strings, self._part
        item = strings.items[number]
        if part is None or strings.root is None or item.find(_LETTERS) is None:
            return number
        made = deepcopy(item)
        made.tail = None
        if not _changed(made, change):
            return number
        if self._numbers is None:
            rich = ((at, each) for at, each in enumerate(strings.items) if each.find(_LETTERS) is not None)
            self._numbers = {_said(each): at for at, each in rich}
        known = self._numbers.get(_said(made))
        if known is not None:
            return known
        strings.items[-1].addnext(made)
        strings.items.append(made)
        if strings.root.get("uniqueCount") is not None:
            strings.root.set("uniqueCount", str(len(strings.items)))
        self._package.changed(part)
        self._numbers[_said(made)] = len(strings.items) - 1
        return len(strings.items) - 1


def _changed(item: Element, change: FormatChange) -> bool:
    before = _said(item)
    for letters in item.iterfind(_LETTERS):
        change_letters(letters, change, FONT_OF_RUN)
    return _said(item) != before


def _said(item: Element) -> str:
    return etree.tostring(item, encoding="unicode", with_tail=False)
