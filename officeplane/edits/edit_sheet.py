"""`edit_sheet`: what a sheet is besides its cells."""

from typing import Annotated, ClassVar, TypeVar

from pydantic import ConfigDict, Field

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Edit, Line, Occasion, Result
from officeplane.edits.sheet_rules import CellName, Color, ConditionalFormatRule, RangeName, ValidationRule
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document

Ranges = Annotated[list[RangeName], Field(min_length=1, max_length=1_000)]
_RULES_MAX = 1_000


class EditSheet(Edit):
    """Merged cells, frozen rows, a filter, rules, and how a sheet is seen; what is not named stays."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "sheet": "Plan",
                    "merge": ["A1:D1"],
                    "freeze": "B3",
                    "autofilter": "A2:D40",
                    "validation": {"range": "C3:C40", "kind": "list", "values": ["open", "done"]},
                    "conditionalFormat": {
                        "range": "D3:D40", "kind": "cell", "operator": "lessThan", "value": 0, "color": "C00000",
                    },
                    "tabColor": "1F6FEB",
                }
            ]
        }
    )  # fmt: skip

    task_type: ClassVar = "edit_sheet"
    title_for_people: ClassVar = "Edit a sheet"

    sheet: Line = Field(description="The sheet, by its name or its id in the outline.")
    unmerge: Ranges | None = Field(
        default=None, description="Ranges whose merged cells are taken apart again; done before `merge`."
    )
    merge: Ranges | None = Field(
        default=None,
        description="Ranges that become one cell each, such as `A1:D1`. Only the first cell's content stays.",
    )
    discard: bool = Field(
        default=False,
        description="Whether `merge` may destroy what the covered cells hold; without it such an edit is refused.",
    )
    freeze: CellName | None = Field(
        default=None,
        description="The rows above and the columns left of this cell stay in view: `A2` for the first row, `B1` for "
        "the first column, `B2` for both; null for none any more.",
    )
    autofilter: RangeName | None = Field(
        default=None, description="The range with a filter, its first row as the headings; null takes the filter away."
    )
    validation: ValidationRule | Annotated[list[ValidationRule], Field(max_length=_RULES_MAX)] | None = Field(
        default=None, description="What may be typed into cells: one rule or a list of them."
    )
    conditional_format: (
        ConditionalFormatRule | Annotated[list[ConditionalFormatRule], Field(max_length=_RULES_MAX)] | None
    ) = Field(
        default=None,
        description="How cells look when they hold something: one rule or a list, each before those that are there.",
    )
    hidden: bool | None = Field(
        default=None, description="Whether the sheet is hidden; the last visible one cannot be."
    )
    tab_color: Color | None = Field(default=None, description="The colour of its tab, `RRGGBB`; null for none.")

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        if not self.model_fields_set - {"sheet", "discard"}:
            raise InvalidEditError("it names nothing to change; give merge, freeze, validation or another field")
        editor = workbook.sheet_editor(self.sheet)
        for place in self.unmerge or ():
            editor.unmerge(place)
        lost = [loss for place in self.merge or () for loss in editor.merge(place)]
        occasion.give_up(lost, discard=self.discard)
        if "freeze" in self.model_fields_set:
            editor.freeze(self.freeze)
        if "autofilter" in self.model_fields_set:
            # Who names the filter means its conditions, too.
            occasion.give_up(editor.filter(self.autofilter), discard=True)
        for rule in _listed(self.validation):
            editor.validate(rule.native())
        for look in _listed(self.conditional_format):
            editor.format_on_condition(look.native())
        if self.hidden is not None:
            editor.hide(is_hidden=self.hidden)
        if "tab_color" in self.model_fields_set:
            editor.color_tab(self.tab_color)
        return {"id": editor.id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        rules = (*_listed(self.validation), *_listed(self.conditional_format))
        ranges = (*(self.merge or ()), *(self.unmerge or ()), *(rule.range for rule in rules))
        return [f"{self.sheet}!{place}" for place in dict.fromkeys(ranges)]


_Rule = TypeVar("_Rule", ValidationRule, ConditionalFormatRule)


def _listed(given: _Rule | list[_Rule] | None) -> list[_Rule]:
    return given if isinstance(given, list) else [] if given is None else [given]
