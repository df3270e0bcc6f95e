"""Named styles: formats with a name, such as `Good`, that cells are given as a whole."""

from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.stylesheet import NAMED_FORMATS, NAMES, Stylesheet
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_LISTED_MAX: Final = 50
_NAMED: Final = (
    ("numFmtId", "applyNumberFormat"), ("fontId", "applyFont"), ("fillId", "applyFill"), ("borderId", "applyBorder"),
)  # fmt: skip
_ALIGNMENT: Final = main("alignment")
_PROTECTION: Final = main("protection")
_HELD: Final = ((_ALIGNMENT, "applyAlignment"), (_PROTECTION, "applyProtection"))


class NamedStyles:
    """The named styles of a workbook."""

    def __init__(self, sheet: Stylesheet) -> None:
        self._sheet = sheet

    @property
    def names(self) -> dict[str, int]:
        """What they are called, and which format each is."""
        return {
            each.get("name", ""): whole(each.get("xfId"), -1) for each in self._sheet.entries(NAMES) if each.get("name")
        }

    def give(self, format: Element, name: str) -> None:
        """Give a format all that a style says; what the style leaves open stays."""
        number, style = self._find(name)
        for attribute, flag in _NAMED:
            if _includes(style, flag):
                format.set(attribute, style.get(attribute, "0"))
                format.attrib.pop(flag, None)
            elif format.get(attribute, "0") != style.get(attribute, "0"):
                format.set(flag, "1")
        for tag, flag in _HELD:
            held = format.find(tag)
            if not _includes(style, flag):
                if held is not None:
                    format.set(flag, "1")
                continue
            format.attrib.pop(flag, None)
            if held is not None:
                format.remove(held)
            if (given := style.find(tag)) is not None:
                before = 1 if tag == _PROTECTION and len(format) and format[0].tag == _ALIGNMENT else 0
                format.insert(before, deepcopy(given))
        format.set("xfId", str(number))

    def _find(self, name: str) -> tuple[int, Element]:
        names = self.names
        folded = name.casefold()
        number = names.get(name, next((at for each, at in names.items() if each.casefold() == folded), -1))
        style = self._sheet.entry(NAMED_FORMATS, number)
        if style is None:
            listed = ", ".join(repr(each) for each in list(names)[:_LISTED_MAX])
            raise InvalidEditError(
                f"there is no cell style {name!r}; " + (f"the styles are {listed}" if listed else "there are none")
            )
        return number, style


def _includes(style: Element, flag: str) -> bool:
    return style.get(flag, "1") not in {"0", "false"}
