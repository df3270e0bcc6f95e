"""Results in cells: what a formula comes to is written beside it, or taken away."""

from typing import Final

from lxml import etree

from officeplane.formats.excel.cells.texts import encode
from officeplane.formats.excel.cells.values import CellError, number
from officeplane.formats.excel.recalculation.expressions import Scalar
from officeplane.formats.excel.tags import FORMULA, INLINE, VALUE
from officeplane.formats.xml import Element

_WHOLE_MAX: Final = 2**53


def drop_result(cell: Element) -> bool:
    """Take a cell's result away; tell whether there was one."""
    gone = [child for child in cell if child.tag in {VALUE, INLINE}]
    for child in gone:
        cell.remove(child)
    for name in ("t", "vm"):
        cell.attrib.pop(name, None)
    return bool(gone)


def write_result(cell: Element, result: Scalar) -> bool:
    """Give a cell with a formula its result; tell whether it is another than before."""
    kind, text = _written(result)
    value = cell.find(VALUE)
    if value is not None and value.text == text and cell.get("t") == kind and cell.get("vm") is None:
        return False
    drop_result(cell)
    if kind is not None:
        cell.set("t", kind)
    made = etree.Element(VALUE)
    made.text = text
    formula = cell.find(FORMULA)
    if formula is None:
        cell.insert(0, made)
    else:
        formula.addnext(made)
    return True


def _written(result: Scalar) -> tuple[str | None, str]:
    match result:
        case bool():
            return "b", "1" if result else "0"
        case str():
            return "str", encode(result)
        case CellError(text):
            return "e", text
        case None:
            return None, "0"
        case _:
            is_whole = abs(result) < _WHOLE_MAX and result == int(result)
            return None, number(int(result) if is_whole else result)
