import json
from typing import Any

import pytest
from pydantic import ValidationError

from officeplane.domain.document import Format, InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.edit_sheet import EditSheet
from officeplane.formats.blank import blank
from officeplane.formats.reading.listing import ListWanted, listed
from tests.fixtures.documents import excel
from tests.formats.excel.books import MAIN, applied, assert_sound, differing, opened, part, parts, reopened

SHEET1 = "xl/worksheets/sheet1.xml"


def edited(data: bytes, sheet: str = "Data", **payload: Any) -> tuple[Result, bytes]:
    edit = EditSheet.model_validate_json(json.dumps({"sheet": sheet, **payload}))
    (told,), after = applied(data, edit)
    assert_sound(after)
    return told, after


def told(data: bytes, sheet: str = "Data") -> dict[str, Any]:
    """Return what reading tells of a sheet."""
    items = listed(opened(data).reader(), ListWanted("sheets")).items
    (found,) = [item for item in items if item.get("text") == sheet]
    return found


def xml(data: bytes, name: str) -> str:
    return parts(data)[name].decode()


def test_merged_cells_are_told_and_known_to_others_until_they_are_taken_apart() -> None:
    data = blank(Format.XLSX, None)

    _, merged = edited(data, "sheet-1", merge=["A1:C1", "A3:B4"])
    _, apart = edited(merged, "sheet-1", unmerge=["B3"], merge=["D1:D2"])

    assert told(merged, "Sheet1")["merged"] == ["A1:C1", "A3:B4"]
    assert {str(each) for each in reopened(apart)["Sheet1"].merged_cells.ranges} == {"A1:C1", "D1:D2"}
    _, none = edited(apart, "sheet-1", unmerge=["A1:Z9"])
    assert "mergeCells" not in xml(none, SHEET1)


def test_a_merge_that_would_destroy_contents_is_refused_unless_they_are_to_be_discarded() -> None:
    with pytest.raises(InvalidEditError, match=r"would destroy .*cell '#N/A' in Data!E8"):
        edited(excel.hard(), merge=["D8:F8"])

    result, after = edited(excel.hard(), merge=["D8:F8"], discard=True)

    assert [warning["code"] for warning in result["warnings"]] == ["lost", "lost"]
    assert reopened(after)["Data"]["D8"].value is True
    assert reopened(after)["Data"]["E8"].value is None
    assert told(after)["merged"] == ["A10:C11", "D8:F8"]


def test_what_is_merged_already_stays_as_it_is() -> None:
    _, after = edited(excel.hard(), merge=["A10:C11"])

    assert parts(after)[SHEET1] == parts(excel.hard())[SHEET1]


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"merge": ["B11:D12"]}, "overlaps the merged cells A10:C11"),
        ({"merge": ["H1:I2", "I2:J3"]}, "overlaps the merged cells H1:I2"),
        ({"merge": ["A4:A6"]}, "in the table Sales"),
        ({"merge": ["E3:F3"]}, "array formula in E2:E4"),
        ({"merge": ["H1"]}, "is one cell"),
        ({"merge": ["A1:ZZZ1"]}, "there is no range A1:ZZZ1"),
        ({"unmerge": ["H1:I2"]}, "no merged cells in H1:I2"),
        ({"freeze": "A1"}, "nothing is above or left of A1"),
        ({"autofilter": "C5:D9"}, "in the table Sales, which has a filter of its own"),
        ({"sheet": "Nowhere", "freeze": "A2"}, "there is no sheet 'Nowhere'"),
        ({"sheet": "Chart1", "freeze": "A2"}, "has no cells"),
        ({}, "names nothing to change"),
        ({"validation": {"range": "A1", "kind": "list"}}, "either values or a source"),
        ({"validation": {"range": "A1", "kind": "list", "values": ["a,b"]}}, "comma"),
        ({"validation": {"range": "A1", "kind": "list", "values": ["a" * 300]}}, "300 characters"),
        ({"validation": {"range": "A1", "kind": "whole", "value": 1}}, "needs value and value2"),
        ({"validation": {"range": "A1", "kind": "whole", "operator": "equal"}}, "needs value, and no value2"),
        ({"validation": {"range": "A1", "kind": "date", "value": "2026-01-05", "value2": 1}}, "not with texts"),
        ({"validation": {"range": "A1", "kind": "custom"}}, "needs a formula"),
        ({"validation": {"range": "A1", "kind": "custom", "formula": "=WEBSERVICE(B1)"}}, "reaches outside"),
        ({"validation": {"range": "A1", "kind": "list", "source": "='[Other.xlsx]Sheet1'!$A$1"}}, "other workbooks"),
        ({"validation": {"range": "A1", "kind": "list", "source": "=Sales[Region]"}}, "columns of a table"),
        ({"validation": {"range": "A1", "kind": "custom", "formula": "=cmd|'/c calc'!A1"}}, "DDE|cannot be read"),
        ({"conditionalFormat": {"range": "A1", "kind": "formula", "formula": "=Last!A1>1", "bold": True}}, "by name"),
        ({"conditionalFormat": {"range": "A1", "kind": "formula", "formula": "=A1>", "bold": True}}, "cannot be read"),
        ({"conditionalFormat": {"range": "A1", "kind": "duplicates"}}, "needs a look"),
        ({"conditionalFormat": {"range": "A1", "kind": "colorScale", "colors": ["FF0000"]}}, "2 or 3 colors"),
        ({"conditionalFormat": {"range": "A1", "kind": "text", "bold": True}}, "needs a text"),
    ],
)  # fmt: skip
def test_what_excel_would_not_take_is_refused(payload: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidEditError, match=words):
        edited(excel.hard(), **{"sheet": "Data", **payload})


@pytest.mark.parametrize(
    ("cell", "pane", "active"),
    [("A2", {"ySplit": "1"}, "bottomLeft"), ("C1", {"xSplit": "2"}, "topRight"),
     ("B4", {"xSplit": "1", "ySplit": "3"}, "bottomRight")],
)  # fmt: skip
def test_rows_and_columns_are_frozen_and_freed(cell: str, pane: dict[str, str], active: str) -> None:
    _, after = edited(excel.hard(), "Last", freeze=cell)

    view = part(after, "xl/worksheets/sheet5.xml").find(f".//{MAIN}sheetView")
    found = view.find(f"{MAIN}pane")
    assert dict(found.attrib) == {**pane, "topLeftCell": cell, "activePane": active, "state": "frozen"}
    assert view[-1].get("pane") == active
    assert reopened(after)["Last"].freeze_panes == cell == told(after, "Last")["freeze"]
    _, free = edited(after, "Last", freeze=None)
    assert "freeze" not in told(free, "Last")
    assert [each.get("pane") for each in part(free, "xl/worksheets/sheet5.xml").iter(f"{MAIN}selection")] == [None]


def test_a_view_that_is_scrolled_is_frozen_from_the_first_row_on() -> None:
    data = excel.small("", around="")
    package = opened(data).package
    package.put(
        SHEET1,
        package.content(SHEET1).replace(
            b"<sheetData>",
            b'<sheetViews><sheetView view="pageLayout" topLeftCell="A50" workbookViewId="0"><selection activeCell="C3"'
            b' sqref="C3"/></sheetView></sheetViews><sheetData>',
        ),
    )

    _, after = edited(package.write().content(), "Sheet1", freeze="A2")

    view = part(after, SHEET1).find(f".//{MAIN}sheetView")
    assert dict(view.attrib) == {"workbookViewId": "0"}
    assert dict(view[-1].attrib) == {"pane": "bottomLeft", "activeCell": "C3", "sqref": "C3"}


def test_a_filter_comes_with_the_name_that_excel_keeps_for_it_and_goes_with_it() -> None:
    _, after = edited(excel.hard(), "Q1 'Plan'", autofilter="A1:B9")

    assert told(after, "Q1 'Plan'")["autofilter"] == "A1:B9"
    names = part(after, "xl/workbook.xml").find(f"{MAIN}definedNames")
    assert [(dict(each.attrib), each.text) for each in names][-1] == (
        {"name": "_xlnm._FilterDatabase", "localSheetId": "1", "hidden": "1"},
        "'Q1 ''Plan'''!$A$1:$B$9",
    )
    _, other = edited(after, "Q1 'Plan'", autofilter="A1:A4")
    assert "$A$1:$A$4" in xml(other, "xl/workbook.xml")
    _, none = edited(other, "Q1 'Plan'", autofilter=None)
    assert "_FilterDatabase" not in xml(none, "xl/workbook.xml")
    assert "autoFilter" not in xml(none, "xl/worksheets/sheet2.xml")


def test_rows_that_a_filter_hid_are_shown_when_it_goes_and_that_is_told() -> None:
    rows = "<row r='1'><c r='A1'><v>1</v></c></row><row r='2' hidden='1'><c r='A2'><v>2</v></c></row>"
    data = excel.small(
        rows + "<row r='9' hidden='1'/>",
        around="<autoFilter ref='A1:A5'><filterColumn colId='0'><filters><filter val='1'/></filters></filterColumn>"
        "</autoFilter>",
    )

    result, after = edited(data, "Sheet1", autofilter=None)

    assert [warning["code"] for warning in result["warnings"]] == ["lost"]
    assert [row.get("hidden") for row in part(after, SHEET1).iter(f"{MAIN}row")] == [None, None, "1"]


RULES: list[dict[str, Any]] = [
    {"range": "B2:B9", "kind": "list", "values": ["open", 'so "called"', "7"]},
    {"range": "B2:B9", "kind": "list", "source": "=Secret!$A$1:$A$3"},
    {"range": "B2:B9", "kind": "whole", "operator": "between", "value": 1, "value2": {"formula": "=A2*2"}},
    {"range": "B2:B9", "kind": "decimal", "operator": "greaterThan", "value": 0.5, "message": "Half at least"},
    {"range": "B2:B9", "kind": "date", "operator": "greaterThanOrEqual", "value": {"date": "2026-01-05"}},
    {"range": "B2:B9", "kind": "textLength", "operator": "lessThan", "value": 10, "allowBlank": False},
    {"range": "B2:B9", "kind": "custom", "formula": "=COUNTIF($B$2:$B$9,B2)=1"},
]


@pytest.mark.parametrize("rule", RULES)
def test_a_validation_is_read_as_it_was_given(rule: dict[str, Any]) -> None:
    _, after = edited(excel.hard(), "Last", validation=rule)

    assert told(after, "Last")["validation"] == [rule]
    (found,) = reopened(after)["Last"].data_validations.dataValidation
    assert (found.type, str(found.sqref)) == (rule["kind"], "B2:B9")
    _, none = edited(after, "Last", validation={"range": "A1:C20", "kind": "none"})
    assert "dataValidation" not in xml(none, "xl/worksheets/sheet5.xml")


def test_a_validation_takes_the_place_of_what_was_said_of_its_cells_and_the_rest_keeps_its_own() -> None:
    relative = {"range": "B2:D9", "kind": "custom", "formula": "=B2>A$1"}
    _, before = edited(excel.hard(), "Last", validation=[relative, {**RULES[0], "range": "F1:F9"}])

    _, after = edited(before, "Last", validation={**RULES[3], "range": "C4:F5"})

    assert [(rule["range"], rule["kind"], rule.get("formula")) for rule in told(after, "Last")["validation"]] == [
        ("B2:D3", "custom", "=B2>A$1"), ("B4:B5", "custom", "=B4>A$1"), ("B6:D9", "custom", "=B6>A$1"),
        ("F1:F3 F6:F9", "list", None), ("C4:F5", "decimal", None),
    ]  # fmt: skip


def test_conditional_formats_come_before_those_that_are_there() -> None:
    look = {"fill": "FFC7CE", "color": "9C0006", "bold": True}
    rules = [
        {"range": "B2:B5", "kind": "cell", "operator": "lessThan", "value": 0, **look},
        {"range": "B2:B5", "kind": "cell", "operator": "equal", "value": 'a "b"', **look},
        {"range": "B2:B5", "kind": "formula", "formula": "=B2>$A$1", "italic": True},
        {"range": "B2:B5", "kind": "text", "text": "late", "fill": "FFFF00"},
        {"range": "B2:B5", "kind": "duplicates", "bold": True},
        {"range": "B2:B5", "kind": "bottom", "count": 3, "percent": True, "bold": True},
        {"range": "B2:B5", "kind": "colorScale", "colors": ["F8696B", "FFEB84", "63BE7B"]},
        {"range": "B2:B5", "kind": "dataBar", "colors": ["638EC6"]},
    ]

    _, after = edited(excel.hard(), conditionalFormat=rules)

    sheet: Any = reopened(after)["Data"]
    found: list[Any] = [
        (rule.priority, rule.type, rule.operator, rule.formula)
        for group in sheet.conditional_formatting
        for rule in group.rules
    ]
    assert min(found)[1] == "dataBar"
    assert max(found) == (9, "expression", None, ["B2>Data!$B$3"])
    assert (8, "cellIs", "lessThan", ["0"]) in found
    assert (7, "cellIs", "equal", ['"a ""b"""']) in found
    assert (5, "containsText", "containsText", ['NOT(ISERROR(SEARCH("late",B2)))']) in found
    assert [rule["kind"] for rule in told(after)["conditionalFormat"]] == [
        "formula", "cell", "cell", "formula", "text", "duplicates", "bottom", "colorScale", "dataBar",
    ]  # fmt: skip
    assert len(part(after, "xl/styles.xml").find(f"{MAIN}dxfs")) == 5


def test_conditional_formats_of_a_range_are_taken_away_and_the_rest_goes_on() -> None:
    _, after = edited(excel.hard(), conditionalFormat={"range": "B3", "kind": "none"})

    assert [(rule["range"], rule["formulas"]) for rule in told(after)["conditionalFormat"]] == [
        ("B2", ["=B2>Data!$B$3"]), ("B4:B5", ["=B4>Data!$B$3"]),
    ]  # fmt: skip


def test_a_sheet_in_front_that_is_hidden_gives_its_place_to_another() -> None:
    _, after = edited(excel.hard(), "Q1 'Plan'", hidden=True)

    book: Any = reopened(after)
    assert book["Q1 'Plan'"].sheet_state == "hidden"
    assert book.active.title == "Data"
    assert told(after, "Q1 'Plan'")["hidden"] is True
    _, shown = edited(after, "Q1 'Plan'", hidden=False)
    assert "hidden" not in told(shown, "Q1 'Plan'")
    _, secret = edited(after, "Secret", hidden=False)
    assert reopened(secret)["Secret"].sheet_state == "visible"


def test_the_last_visible_sheet_stays() -> None:
    with pytest.raises(InvalidEditError, match="only visible sheet"):
        edited(excel.plain(), "Sheet1", hidden=True)


def test_a_tab_has_a_colour_or_none() -> None:
    _, after = edited(excel.hard(), "Chart1", tabColor="1f6feb")
    _, none = edited(after, "Data", tabColor=None)

    assert told(after, "Chart1")["tabColor"] == "1F6FEB"
    assert told(after)["tabColor"] == "FF0000"
    assert "tabColor" not in told(none)
    assert differing(excel.hard(), after) == {"xl/chartsheets/sheet1.xml"}


@pytest.mark.parametrize(
    "payload", [{"tabColor": "red"}, {"merge": ["A:C"]}, {"freeze": 2}, {"validation": {"kind": "x"}}]
)
def test_what_is_no_range_or_colour_is_refused_at_once(payload: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EditSheet.model_validate_json(json.dumps({"sheet": "Data", **payload}))


def test_the_example_can_be_done_and_nothing_but_what_it_names_is_touched() -> None:
    (example,) = EditSheet.model_json_schema()["examples"]

    _, after = edited(excel.hard(), **{**example, "sheet": "Last"})

    assert differing(excel.hard(), after) == {"xl/worksheets/sheet5.xml", "xl/workbook.xml", "xl/styles.xml"}


def test_a_cell_that_was_merged_in_the_same_session_is_known_to_be_covered() -> None:
    book = opened(blank(Format.XLSX, None))
    book.sheet_editor("sheet-1").merge("A1:B1")

    with pytest.raises(InvalidEditError, match="covered by the merged cells A1:B1"):
        book.set_cells("sheet-1", {"B1": 1})
