"""Validation: what may be typed into cells."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Area
from officeplane.formats.excel.cells.dates import Calendar, calendar_of, written
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.children import child_of, drop_empty
from officeplane.formats.excel.sheets.rules import Bound, RuleFormulas, cut, quoted_text, ranges_of, replace
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import main

NONE: Final = "none"
_LIST: Final = main("dataValidations")
_ONE: Final = main("dataValidation")
_CHOICES_MAX: Final = 255
_YOUNG: Final = "{*}extLst/{*}ext/{*}dataValidations/{*}dataValidation"


@dataclass(frozen=True, slots=True)
class Validation:
    """What may be typed into the cells of a range; of the kind `none`, anything."""

    range: Area
    kind: str
    values: tuple[str, ...] = ()
    source: Formula | None = None
    operator: str = "between"
    value: Bound | None = None
    value2: Bound | None = None
    formula: Formula | None = None
    allow_blank: bool = True
    message: str | None = None


def validate(parts: Parts, sheet: Sheet, wanted: Validation) -> None:
    """Say what may be typed into a range, instead of what was said of it before."""
    root = parts.package.tree(sheet.part)
    for young in root.iterfind(_YOUNG):
        if any(each.meets(wanted.range) for each in ranges_of(young.findtext("{*}sqref"))):
            raise InvalidEditError(f"the validation of {wanted.range} is of a newer kind: remove it in Excel first")
    formulas = _formulas(RuleFormulas(parts, may_name_sheets=True), wanted)
    holder = child_of(root, "dataValidations")
    for each in list(holder.iterchildren(_ONE)):
        replace(each, cut(each, wanted.range))
    if wanted.kind != NONE:
        made = etree.SubElement(holder, _ONE, type=wanted.kind)
        if wanted.kind not in {"list", "custom"}:
            made.set("operator", wanted.operator)
        if wanted.allow_blank:
            made.set("allowBlank", "1")
        made.set("showInputMessage", "1")
        made.set("showErrorMessage", "1")
        if wanted.message:
            made.set("error", wanted.message)
        made.set("sqref", str(wanted.range))
        for at, formula in enumerate(formulas, 1):
            etree.SubElement(made, main(f"formula{at}")).text = formula
    drop_empty(root, holder)
    parts.package.changed(sheet.part)


def validations_of(parts: Parts, sheet: Sheet) -> Iterator[dict[str, Any]]:
    """Yield what may be typed where, as an edit would say it."""
    calendar = calendar_of(parts.package, parts.workbook)
    for each in parts.package.tree(sheet.part).iterfind(f"{_LIST}/{_ONE}"):
        kind = each.get("type", NONE)
        said: dict[str, Any] = {"range": each.get("sqref", ""), "kind": kind}
        bounds = [each.findtext(main(name)) for name in ("formula1", "formula2")]
        first = bounds[0] or ""
        if kind == "list" and first.startswith('"'):
            said["values"] = first[1:-1].replace('""', '"').split(",")
        elif kind in {"list", "custom"}:
            said["source" if kind == "list" else "formula"] = f"={first}"
        else:
            said["operator"] = each.get("operator", "between")
            for name, bound in zip(("value", "value2"), bounds, strict=True):
                if bound is not None:
                    said[name] = _told(bound, kind, calendar)
        if each.get("allowBlank") not in {"1", "true"}:
            said["allowBlank"] = False
        if each.get("error"):
            said["message"] = each.get("error")
        yield said


def _formulas(formulas: RuleFormulas, wanted: Validation) -> list[str]:
    match wanted.kind:
        case "none":
            return []
        case "list":
            if (wanted.source is None) == (not wanted.values):
                raise InvalidEditError("a validation of the kind list needs either values or a source")
            return [formulas.text(wanted.source)] if wanted.source is not None else [_choices(wanted.values)]
        case "custom":
            if wanted.formula is None:
                raise InvalidEditError("a validation of the kind custom needs a formula")
            return [formulas.text(wanted.formula)]
        case _:
            if isinstance(wanted.value, str) or isinstance(wanted.value2, str):
                raise InvalidEditError(
                    f"a validation of the kind {wanted.kind} compares with numbers, dates or formulas, not with texts"
                )
            return formulas.pair(wanted.operator, wanted.value, wanted.value2)


def _choices(values: tuple[str, ...]) -> str:
    for value in values:
        if "," in value or value != value.strip() or not value:
            raise InvalidEditError(
                f"the choice {value!r} is empty, or has a comma or a space at an end, which no list may have: "
                "put the choices into cells and give these as source"
            )
    joined = ",".join(values)
    if len(joined) > _CHOICES_MAX:
        raise InvalidEditError(
            f"the choices have {len(joined)} characters together, Excel takes {_CHOICES_MAX}: put them into cells, "
            "and give these as source"
        )
    return quoted_text(joined)


def _told(bound: str, kind: str, calendar: Calendar) -> object:
    try:
        value = float(bound)
    except ValueError:
        return {"formula": f"={bound}"}
    moment = calendar.moment(value) if kind == "date" else None
    if moment is None:
        return int(value) if value.is_integer() else value
    is_day = moment == datetime.combine(moment, datetime.min.time())
    return {"date": written(moment.date())} if is_day else {"dateTime": written(moment)}
