"""Styles: what marks a cell's text as text even when somebody types into it again, and how its number is shown."""

from collections.abc import Callable
from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.formats.excel.cells.number_codes import number_code
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.stylesheet import CELL_FORMATS, FONTS, NAMED_FORMATS, Stylesheet, plain
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.xml import Element

_XF: Final = main("xf")
_MARK: Final = "quotePrefix"
_LOOKS_LIKE_A_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def needs_mark(text: str) -> bool:
    """Tell whether Excel would make something else of a text than text if it were typed."""
    return text.startswith(_LOOKS_LIKE_A_FORMULA)


class Styles:
    """The formats of cells, by number; a workbook without any has no marks either."""

    def __init__(self, package: Package, workbook: str) -> None:
        self._sheet = Stylesheet(package, workbook)
        formats = self._sheet.entries(CELL_FORMATS)
        self._marked = {str(at) for at, each in enumerate(formats) if plain(each).get(_MARK) in {"1", "true"}}
        self._twins: dict[tuple[str, bool | str], str] = {}

    def for_text(self, style: str | None, text: str) -> str | None:
        """Return the format for a text in a cell that has this one."""
        return self._twin(style, needs_mark(text))

    def for_other(self, style: str | None) -> str | None:
        """Return the format for what is no text."""
        return self._twin(style, False)

    def with_number_format(self, style: str | None, code: str) -> str:
        """Return the format that is like this one and shows numbers so."""
        known = self._twins.get((style or "0", code))
        if known is None:
            number = str(self._sheet.number_of_code(number_code(code)))
            if not self._sheet.entries(CELL_FORMATS):
                self._sheet.put(CELL_FORMATS, etree.Element(_XF))

            def change(twin: Element) -> None:
                twin.set("numFmtId", number)
                twin.set("applyNumberFormat", "1")

            known = self._twins[style or "0", code] = self._make_twin(style or "0", change)
        return known

    def first_font(self) -> list[Element]:
        """Return what the font of plain cells is made of."""
        font = self._sheet.entry(FONTS, 0)
        return [] if font is None else list(font)

    def _twin(self, style: str | None, marked: bool) -> str | None:
        number = style or "0"
        if (number in self._marked) == marked or not self._sheet.entries(CELL_FORMATS):
            return style
        known = self._twins.get((number, marked))
        if known is None:

            def change(twin: Element) -> None:
                if marked:
                    twin.set(_MARK, "1")
                else:
                    twin.attrib.pop(_MARK, None)

            known = self._twins[number, marked] = self._make_twin(number, change)
        return known

    def _make_twin(self, style: str, change: Callable[[Element], None]) -> str:
        known = self._sheet.entry(CELL_FORMATS, whole(style, -1))
        if known is None:
            return style
        twin = deepcopy(known)
        twin.tail = None
        change(twin)
        if whole(twin.get("xfId"), 0) >= len(self._sheet.entries(NAMED_FORMATS)):
            # The named style it was made from is not there; no new format should say so again.
            twin.attrib.pop("xfId", None)
        made = str(self._sheet.put(CELL_FORMATS, twin))
        if twin.get(_MARK) in {"1", "true"}:
            self._marked.add(made)
        return made
