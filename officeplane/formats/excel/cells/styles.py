"""Styles: what marks a cell's text as text even when somebody types into it again, and how its number is shown."""

from collections.abc import Callable
from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.formats.excel.cells.format_codes import check_format_code
from officeplane.formats.excel.cells.number_formats import styles_part
from officeplane.formats.excel.cells.style_sheet import holder, make_styles_part, number_of
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.xml import Element

_XFS: Final = main("cellXfs")
_XF: Final = main("xf")
_NAMED: Final = main("cellStyleXfs")
_FONTS: Final = main("fonts")
_MARK: Final = "quotePrefix"
_LOOKS_LIKE_A_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def needs_mark(text: str) -> bool:
    """Tell whether Excel would make something else of a text than text if it were typed."""
    return text.startswith(_LOOKS_LIKE_A_FORMULA)


class Styles:
    """The formats of cells, by number; a workbook without any has no marks either."""

    def __init__(self, package: Package, workbook: str) -> None:
        self._package = package
        self._workbook = workbook
        self._part = styles_part(package, workbook)
        self._formats = None if self._part is None else package.tree(self._part).find(_XFS)
        named = None if self._part is None else package.tree(self._part).find(_NAMED)
        self._named = 0 if named is None else len(named)
        formats = () if self._formats is None else self._formats
        self._marked = {str(at) for at, each in enumerate(formats) if _plain(each).get(_MARK) in {"1", "true"}}
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
            check_format_code(code)
            part = self._part = make_styles_part(self._package, self._workbook)
            root = self._package.tree(part)
            self._formats = holder(root, "cellXfs")
            if not len(self._formats):
                etree.SubElement(self._formats, _XF)
            number = str(number_of(root, code))

            def change(twin: Element) -> None:
                twin.set("numFmtId", number)
                twin.set("applyNumberFormat", "1")

            known = self._twins[style or "0", code] = self._make_twin(self._formats, style or "0", change)
            self._package.changed(part)
        return known

    def first_font(self) -> list[Element]:
        """Return what the font of plain cells is made of."""
        fonts = None if self._part is None else self._package.tree(self._part).find(_FONTS)
        return list(fonts[0]) if fonts is not None and len(fonts) else []

    def _twin(self, style: str | None, marked: bool) -> str | None:
        number = style or "0"
        if self._formats is None or self._part is None or (number in self._marked) == marked:
            return style
        known = self._twins.get((number, marked))
        if known is None:

            def change(twin: Element) -> None:
                if marked:
                    twin.set(_MARK, "1")
                else:
                    twin.attrib.pop(_MARK, None)

            known = self._twins[number, marked] = self._make_twin(self._formats, number, change)
            self._package.changed(self._part)
        return known

    def _make_twin(self, formats: Element, style: str, change: Callable[[Element], None]) -> str:
        number = whole(style, len(formats))
        if number >= len(formats):
            return style
        twin = deepcopy(_plain(formats[number]))
        change(twin)
        if whole(twin.get("xfId"), 0) >= self._named:
            # The named style it was made from is not there; no new format should say so again.
            twin.attrib.pop("xfId", None)
        wanted = _canonical(twin)
        for at, each in enumerate(formats):
            if _canonical(_plain(each)) == wanted:
                return str(at)
        formats.append(twin)
        formats.set("count", str(len(formats)))
        if twin.get(_MARK) in {"1", "true"}:
            self._marked.add(str(len(formats) - 1))
        return str(len(formats) - 1)


def _plain(format: Element) -> Element:
    """Return the format itself where a program wrote two of them, one for itself and one for others."""
    return format if format.tag == _XF else next(format.iterfind(f"{{*}}Fallback/{_XF}"), format)


def _canonical(node: Element) -> bytes:
    return etree.tostring(node, method="c14n", exclusive=True)
