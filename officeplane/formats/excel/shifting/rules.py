"""Rules: formats and input that depend on formulas, each written for the first cell of those that it is about."""

from collections.abc import Iterator
from typing import Final

from officeplane.formats.excel.beside_cells import beside_cells
from officeplane.formats.excel.cells.addresses import Area
from officeplane.formats.excel.shifting.areas import areas
from officeplane.formats.excel.shifting.formulas import FormulaShift
from officeplane.formats.excel.shifting.members import Common, Key
from officeplane.formats.xml import Element

RULES: Final = ("{*}conditionalFormatting", "{*}dataValidation")
_FORMULAS: Final = ("{*}formula", "{*}formula1", "{*}formula2", "{*}f")
_VALUE: Final = "{*}cfvo"


def follow_rules(formulas: FormulaShift, root: Element, *, is_own: bool) -> Iterator[tuple[bool, bool]]:
    """Let the formulas of a sheet's rules follow, before the rules themselves move.

    Yields of each whether it has changed, and whether it has lost a reference.
    Where no formula is right for all cells of a rule any more, it is right for most of them.
    """
    for rule in beside_cells(root, *RULES):
        held = areas(_about(rule))
        for holder in rule.iter(*_FORMULAS):
            before = holder.text or ""
            if before.strip():
                after, lost = _followed(formulas, before, held, is_own=is_own)
                holder.text = after
                yield after != before, lost
        for value in rule.iter(_VALUE):
            before = value.get("val", "")
            if value.get("type") != "percent" and before:
                after, lost = _followed(formulas, before, held, is_own=is_own)
                if after != before:
                    value.set("val", after)
                    yield True, lost


def _about(rule: Element) -> str | None:
    inner = rule.find("{*}sqref")
    return rule.get("sqref") if inner is None else inner.text


def _followed(formulas: FormulaShift, text: str, held: list[Area], *, is_own: bool) -> tuple[str, bool]:
    shift = formulas.shift
    moved = [found for each in held if (found := shift.area(each)) is not None] if is_own else held
    if not held or not moved:
        return text, False
    base = min(shift.along(area)[0] for area in held)
    last = max(shift.along(area)[1] for area in held)
    common = Common(formulas, text, base, is_own)
    sizes: dict[Key, int] = {}
    stretches = common.stretches((base, last), exactly=False)
    for each in stretches:
        sizes[each.key] = sizes.get(each.key, 0) + each.size
    if not stretches:
        return text, False
    best = max(stretches, key=lambda each: (not each.is_lost, sizes[each.key]))
    return common.at(best.first, min(shift.along(area)[0] for area in moved)), formulas.has_lost
