"""Conditional formats: how cells look when they hold something."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Area
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.children import put
from officeplane.formats.excel.sheets.rules import Bound, RuleFormulas, cut, quoted_text, ranges_of, replace
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.stylesheet import DIFFERENCES, Stylesheet
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

NONE: Final = "none"
_GROUP: Final = main("conditionalFormatting")
_RULE: Final = main("cfRule")
_YOUNG: Final = "{*}extLst/{*}ext/{*}conditionalFormattings/{*}conditionalFormatting"
_SCALES: Final = frozenset({"colorScale", "dataBar"})
_TYPES: Final = {
    "cell": "cellIs", "formula": "expression", "text": "containsText", "duplicates": "duplicateValues", "top": "top10",
    "bottom": "top10", "colorScale": "colorScale", "dataBar": "dataBar",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """How cells look for which a rule is true."""

    fill: str | None = None
    color: str | None = None
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True, slots=True)
class ConditionalFormat:
    """A rule for a range; of the kind `none`, no rule any more."""

    range: Area
    kind: str
    look: Look
    operator: str = "between"
    value: Bound | None = None
    value2: Bound | None = None
    formula: Formula | None = None
    text: str | None = None
    count: int = 10
    percent: bool = False
    colors: tuple[str, ...] = ()


def format_on_condition(parts: Parts, sheet: Sheet, wanted: ConditionalFormat) -> None:
    """Add a rule before all others, as Excel does; or take those of a range away."""
    root = parts.package.tree(sheet.part)
    parts.package.changed(sheet.part)
    if wanted.kind == NONE:
        _clear(root, wanted.range)
        return
    rule = _rule(RuleFormulas(parts, may_name_sheets=False), wanted)
    if wanted.kind not in _SCALES:
        if wanted.look == Look():
            raise InvalidEditError("a conditional format needs a look: fill, color, bold or italic")
        rule.set("dxfId", str(_look(parts, wanted.look)))
    for other in root.iter(_RULE, "{*}cfRule"):
        if other.get("priority") is not None:
            other.set("priority", str(whole(other.get("priority"), 0) + 1))
    group = etree.Element(_GROUP, sqref=str(wanted.range))
    group.append(rule)
    put(root, group)


def conditional_formats_of(root: Element) -> Iterator[dict[str, Any]]:
    """Yield for which ranges there are rules, and of which kind."""
    kinds = {name: kind for kind, name in _TYPES.items()}
    for group in root.iterfind(_GROUP):
        for rule in group.iterchildren(_RULE):
            kind = rule.get("type", "")
            is_bottom = kind == "top10" and rule.get("bottom") in {"1", "true"}
            said = {"range": group.get("sqref", ""), "kind": "bottom" if is_bottom else kinds.get(kind, kind)}
            if rule.get("operator") and kind == "cellIs":
                said["operator"] = rule.get("operator", "")
            formulas = [f"={each.text}" for each in rule.iterchildren(main("formula"))]
            yield {**said, **({"formulas": formulas} if formulas else {})}


def _clear(root: Element, place: Area) -> None:
    for young in root.findall(_YOUNG):
        found = ranges_of(young.findtext("{*}sqref"))
        if not any(each.meets(place) for each in found):
            continue
        if any(each.without(place) for each in found):
            raise InvalidEditError(
                f"a conditional format of {young.findtext('{*}sqref')} cannot be parted: name all of it"
            )
        lists = young.getparent()
        if lists is not None:
            lists.remove(young)
            extension = lists.getparent()
            if not len(lists) and extension is not None and (around := extension.getparent()) is not None:
                around.remove(extension)
                if not len(around):
                    root.remove(around)
    for group in root.findall(_GROUP):
        replace(group, cut(group, place))


def _rule(formulas: RuleFormulas, wanted: ConditionalFormat) -> Element:
    rule = etree.Element(_RULE, type=_TYPES[wanted.kind], priority="1")
    match wanted.kind:
        case "cell":
            rule.set("operator", wanted.operator)
            texts = formulas.pair(wanted.operator, wanted.value, wanted.value2)
        case "formula":
            if wanted.formula is None:
                raise InvalidEditError("a conditional format of the kind formula needs a formula")
            texts = [formulas.text(wanted.formula)]
        case "text":
            if not wanted.text:
                raise InvalidEditError("a conditional format of the kind text needs a text that cells contain")
            rule.set("operator", "containsText")
            rule.set("text", wanted.text)
            texts = [f"NOT(ISERROR(SEARCH({quoted_text(wanted.text)},{wanted.range.first})))"]
        case "top" | "bottom":
            rule.set("rank", str(wanted.count))
            for name, given in (("percent", wanted.percent), ("bottom", wanted.kind == "bottom")):
                if given:
                    rule.set(name, "1")
            texts = []
        case "colorScale" | "dataBar":
            _scale(rule, wanted)
            texts = []
        case _:
            texts = []
    for text in texts:
        etree.SubElement(rule, main("formula")).text = text
    return rule


def _scale(rule: Element, wanted: ConditionalFormat) -> None:
    allowed = (1,) if wanted.kind == "dataBar" else (2, 3)
    if len(wanted.colors) not in allowed:
        raise InvalidEditError(
            f"a conditional format of the kind {wanted.kind} needs {' or '.join(map(str, allowed))} colors"
        )
    scale = etree.SubElement(rule, main(wanted.kind))
    points = ("min", "max") if len(wanted.colors) < 3 else ("min", "percentile", "max")
    for point in points:
        made = etree.SubElement(scale, main("cfvo"), type=point)
        if point == "percentile":
            made.set("val", "50")
    for color in wanted.colors:
        etree.SubElement(scale, main("color"), rgb=f"FF{color.upper()}")


def _look(parts: Parts, look: Look) -> int:
    made = etree.Element(main("dxf"))
    if look.bold or look.italic or look.color:
        font = etree.SubElement(made, main("font"))
        for name, given in (("b", look.bold), ("i", look.italic)):
            if given:
                etree.SubElement(font, main(name))
        if look.color:
            etree.SubElement(font, main("color"), rgb=f"FF{look.color.upper()}")
    if look.fill:
        pattern = etree.SubElement(etree.SubElement(made, main("fill")), main("patternFill"))
        etree.SubElement(pattern, main("bgColor"), rgb=f"FF{look.fill.upper()}")
    return Stylesheet(parts.package, parts.workbook).put(DIFFERENCES, made)
