"""The style sheet: the part that holds all formats, made where a workbook has none."""

from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.number_formats import BUILT_IN, codes_in, styles_part
from officeplane.formats.excel.tags import MAIN, main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.xml import Element

_CONTENT_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"
_PART: Final = "xl/styles.xml"
_EMPTY: Final = (
    f'<styleSheet xmlns="{MAIN}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font>'
    '</fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/>'
    '</fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="1">'
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs><cellStyles count="1">'
    '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
).encode()
_ORDER: Final = tuple(
    main(name)
    for name in (
        "numFmts", "fonts", "fills", "borders", "cellStyleXfs", "cellXfs", "cellStyles", "dxfs", "tableStyles",
        "colors", "extLst",
    )
)  # fmt: skip
_FORMAT: Final = main("numFmt")
_OWN_MIN: Final = 164
"""Numbers of formats below it are Excel's own."""
_NUMBERS_MAX: Final = 65_535


def make_styles_part(package: Package, workbook: str) -> str:
    """Return the part that holds the formats of a workbook; one that has none is given one."""
    known = styles_part(package, workbook)
    if known is not None:
        return known
    package.put(_PART, _EMPTY)
    declare(package, _PART, _CONTENT_TYPE)
    Relationships(package, workbook).add("styles", _PART)
    return _PART


def holder(root: Element, name: str) -> Element:
    """Return a child of the style sheet, which is put at its place if it is not there."""
    tag = main(name)
    found = root.find(tag)
    if found is None:
        found = etree.Element(tag)
        later = _ORDER[_ORDER.index(tag) + 1 :]
        follower = next((child for child in root if child.tag in later), None)
        if follower is None:
            root.append(found)
        else:
            follower.addprevious(found)
    return found


def number_of(root: Element, code: str) -> int:
    """Return the number of a number format, which is added if no format is the same."""
    known = {**BUILT_IN, **codes_in(root)}
    for number, each in known.items():
        if each == code:
            return number
    number = max(*known, _OWN_MIN - 1) + 1
    if number > _NUMBERS_MAX:
        raise InvalidEditError("the workbook has as many number formats as Excel can keep")
    formats = holder(root, "numFmts")
    etree.SubElement(formats, _FORMAT, numFmtId=str(number), formatCode=code)
    formats.set("count", str(len(formats)))
    return number
