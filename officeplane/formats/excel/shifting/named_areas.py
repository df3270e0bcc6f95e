"""Named areas: what a sheet says of areas and cells beside its rows, from merged cells to links."""

from collections.abc import Iterator
from typing import Final

from officeplane.formats.excel.shifting.areas import shifted
from officeplane.formats.excel.shifting.filters import shift_filter, shift_order
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_ATTRIBUTES: Final = {
    "mergeCell": "ref", "hyperlink": "ref", "cellWatch": "r", "inputCells": "r", "cellSmartTags": "r",
    "webPublishItem": "sourceRef", "conditionalFormatting": "sqref", "dataValidation": "sqref",
    "protectedRange": "sqref", "ignoredError": "sqref", "scenarios": "sqref",
}  # fmt: skip
_HOLDERS: Final = frozenset({
    "mergeCells", "hyperlinks", "cellWatches", "smartTags", "webPublishItems", "dataValidations", "protectedRanges",
    "ignoredErrors", "scenario", "scenarios", "sparklines", "sparklineGroup", "sparklineGroups", "extLst", "ext",
    "conditionalFormattings",
})  # fmt: skip
"""What need not be there when nothing is in it."""
_DATA: Final = main("sheetData")


def shift_named_areas(root: Element, shift: Shift) -> Iterator[Element]:
    """Move all that names areas; yield what was moved, and what is gone because its cells are."""
    for child in list(root):
        if child.tag == _DATA or not isinstance(child.tag, str):
            continue
        counted = {each: len(each) for each in child.iter("*") if each.get("count") is not None}
        for element in list(child.iter("*")):
            if element.getroottree().getroot() is not root:
                continue
            yield from _shift_named_area(element, shift)
        # Once for all: to count them each time would take the square of how many there are.
        for holder, before in counted.items():
            if (left := len(holder)) != before:
                holder.set("count", str(left))


def _shift_named_area(element: Element, shift: Shift) -> Iterator[Element]:
    name = str(element.tag).rpartition("}")[2]
    attribute = _ATTRIBUTES.get(name)
    if attribute is not None and (before := element.get(attribute)):
        after = shifted(before, shift)
        if after is None or (name == "mergeCell" and ":" not in after and ":" in before):
            _remove(element)
            yield element
        elif after != before:
            element.set(attribute, after)
            yield element
    elif name == "sqref" and (before := (element.text or "").strip()):
        after = shifted(before, shift)
        if after is None and (owner := element.getparent()) is not None:
            _remove(owner)
            yield owner
        elif after is not None and after != before:
            element.text = after
            yield element
    elif name == "autoFilter":
        before = element.get("ref", "")
        if not shift_filter(element, shift):
            _remove(element)
            yield element
        elif element.get("ref") != before:
            yield element
    elif name == "sortState" and (parent := element.getparent()) is not None and not str(parent.tag).endswith("Filter"):
        before = element.get("ref", "")
        if not shift_order(element, shift):
            _remove(element)
        if element.get("ref") != before:
            yield element


def _remove(element: Element) -> None:
    """Remove what is gone, and what held nothing else."""
    parent = element.getparent()
    if parent is None:
        return
    parent.remove(element)
    name = str(parent.tag).rpartition("}")[2]
    is_empty = next(parent.iterchildren(), None) is None or name == "sparklineGroup"
    if is_empty and name in _HOLDERS:
        _remove(parent)
