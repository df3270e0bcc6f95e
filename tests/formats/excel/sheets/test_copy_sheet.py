import re
from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.copy_sheet import CopySheet
from officeplane.edits.set_cells import SetCells
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from tests.fixtures.documents import excel
from tests.formats.excel.books import (
    MAIN,
    applied,
    assert_sound,
    differing,
    formulas,
    occasion,
    opened,
    part,
    parts,
    reopened,
)


def copied(data: bytes, sheet: str = "Data", name: str = "New", position: int | None = None) -> tuple[Result, bytes]:
    (told,), after = applied(data, CopySheet(sheet=sheet, name=name, position=position))
    assert_sound(after)
    return told, after


def with_part(data: bytes, name: str, change: dict[str, str]) -> bytes:
    package = Package.read(data)
    text = package.content(name).decode()
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    package.put(name, text.encode())
    return package.write().content()


def test_a_copy_stands_behind_its_original_and_holds_what_that_holds() -> None:
    told, after = copied(excel.hard())

    book: Any = reopened(after)
    assert told == {"id": "sheet-10", "tables": {"Sales": "Sales_2"}}
    assert book.sheetnames == ["Data", "New", "Q1 'Plan'", "Secret", "Chart1", "Last"]
    new, old = book["New"], book["Data"]
    for row in old.iter_rows():
        for cell in row:
            twin = new[cell.coordinate]
            assert twin.number_format == cell.number_format
            assert twin.font.b == cell.font.b
            if cell.data_type != "f":
                assert twin.value == cell.value
    assert new.merged_cells == old.merged_cells
    assert new.column_dimensions["A"].width == old.column_dimensions["A"].width
    assert new["B2"].comment.text == old["B2"].comment.text
    assert [node.text for node in opened(after).outline()[1].children] == [
        "A1:F12", "Sales_2 A1:C5", "Sales of {{name}}",
    ]  # fmt: skip


def test_nothing_but_the_lists_of_the_workbook_is_changed_by_a_copy_and_what_adds_over_stretches_of_sheets() -> None:
    data = excel.hard()

    _, after = copied(data)

    old = parts(data)
    assert {name for name in differing(data, after) if name in old} == {
        "[Content_Types].xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/calcChain.xml",
        "xl/worksheets/sheet2.xml",
    }  # fmt: skip


def test_what_named_the_sheet_itself_names_the_copy_and_what_named_others_still_does() -> None:
    _, after = copied(excel.hard(), name="It's new")

    name = Relationships(Package.read(after), "xl/workbook.xml").of_type("worksheet")[-1].target
    sheet = parts(after)[name].decode()
    assert formulas(after, name)["C2"] == "B2*2+'It''s new'!$B$2"
    assert "B2&gt;'It''s new'!$B$3" in sheet
    assert "<xm:f>'It''s new'!B2:B5</xm:f>" in sheet
    assert "<xm:f>Secret!A1:B1</xm:f>" in sheet
    assert "Secret!$A$1:$A$3" in sheet
    assert "'Q1 ''Plan'''!A1" in sheet
    assert "Data!" not in sheet.replace('"Data!A1"', "")
    table = parts(after)["xl/tables/table2.xml"].decode()
    assert "Sales_2[[#This Row],[Amount]]*2+'It''s new'!$B$2" in table
    assert 'id="2" name="Sales_2" displayName="Sales_2"' in table
    chart = parts(after)["xl/charts/chart3.xml"].decode()
    assert re.findall(r"<c:f>(.*?)</c:f>", chart) == ["'It''s new'!$A$2:$A$5", "'It''s new'!$B$2:$B$5"]
    assert "textlink=\"'It''s new'!$A$10\"" in parts(after)["xl/drawings/drawing3.xml"].decode()


def test_the_names_of_a_sheet_and_those_for_its_places_are_the_copys_own() -> None:
    _, after = copied(excel.hard(), position=0)

    names = part(after, "xl/workbook.xml").find(f"{MAIN}definedNames")
    assert [(each.get("name"), each.get("localSheetId"), each.text) for each in names] == [
        ("_xlnm.Print_Area", "1", "Data!$A$1:$F$20"),
        ("_xlnm.Print_Area", "0", "New!$A$1:$F$20"),
        ("_xlnm.Print_Area", "2", "'Q1 ''Plan'''!$A$1:$B$9"),
        ("_xlnm.Print_Titles", "5", "Last!$1:$1"),
        ("Amounts", None, "Data!$B$2:$B$5"),
        ("Amounts", "0", "New!$B$2:$B$5"),
        ("Plan", None, "'Q1 ''Plan'''!$A$1"),
    ]
    assert reopened(after).sheetnames[0] == "New"
    (view,) = part(after, "xl/workbook.xml").iter(f"{MAIN}workbookView")
    assert view.get("activeTab") == "2"


def test_a_copy_is_changed_by_itself() -> None:
    _, after = copied(excel.hard())

    (_, _), changed = applied(
        after,
        SetCells(sheet="New", cells={"A2": "Only here", "A1": "Land"}),
        CopySheet(sheet="New", name="Third"),
    )

    book: Any = reopened(changed)
    assert [book[name]["A2"].value for name in ("Data", "New", "Third")] == ["North", "Only here", "Only here"]
    assert sorted(book["Third"].tables) == ["Sales_2_2"]
    assert_sound(changed)


def test_a_stretch_of_sheets_still_begins_where_it_began() -> None:
    data = excel.small("<row r='1'><c r='A1'><f>SUM(Sheet1:Two!B1)+Sheet1!B1</f></c></row>", names=("Sheet1", "Two"))

    _, after = copied(data, "Sheet1")

    assert formulas(after, "xl/worksheets/sheet3.xml")["A1"] == "SUM(Sheet1:Two!B1)+New!B1"


def test_only_one_of_two_sheets_is_selected() -> None:
    data = with_part(
        excel.hard(),
        "xl/worksheets/sheet1.xml",
        {"<sheetView workbookViewId": '<sheetView tabSelected="1" workbookViewId'},
    )

    _, after = copied(data)

    assert sum(parts(after)[name].count(b"tabSelected") for name in parts(after) if "worksheets/sheet" in name) == 1


def test_a_sheet_that_is_a_chart_or_hidden_is_copied_as_one() -> None:
    _, chart = copied(excel.hard(), "Chart1")
    _, hidden = copied(excel.hard(), "Secret")

    assert [node.text for node in opened(chart).outline()[4].children] == ["Plan"]
    assert reopened(hidden)["New"].sheet_state == "hidden"


def test_threads_of_comments_get_ids_of_their_own() -> None:
    package = Package.read(excel.hard())
    old = "{11111111-2222-3333-4444-555555555555}"
    reply = "{11111111-2222-3333-4444-666666666666}"
    package.put(
        "xl/threadedComments/threadedComment1.xml",
        f'<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">'
        f'<threadedComment ref="B2" dT="2026-01-05T09:30:00" personId="{{9}}" id="{old}"><text>Is it?</text>'
        f'</threadedComment><threadedComment ref="B2" personId="{{9}}" id="{reply}" parentId="{old}"><text>Yes</text>'
        f"</threadedComment></ThreadedComments>".encode(),
    )
    Relationships(package, "xl/worksheets/sheet1.xml").add(
        "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment",
        "xl/threadedComments/threadedComment1.xml",
    )
    data = with_part(package.write().content(), "xl/comments1.xml", {"<author>Ada": f"<author>tc={old}"})

    (_,), after = applied(data, CopySheet(sheet="Data", name="New"))

    first, second = part(after, "xl/threadedComments/threadedComment2.xml")
    assert first.get("id") not in {old, reply}
    assert second.get("parentId") == first.get("id")
    assert part(after, "xl/comments2.xml").findtext(f".//{MAIN}author") == f"tc={first.get('id')}"
    assert part(after, "xl/comments1.xml").findtext(f".//{MAIN}author") == f"tc={old}"


@pytest.mark.parametrize(
    ("kind", "content", "words"),
    [
        ("pivotTable", '<pivotTableDefinition name="Sums"/>', "pivot table 'Sums'"),
        ("queryTable", '<queryTable name="Q"/>', "query 'Q'"),
        ("somethingNew", "<new/>", "part of the kind somethingNew"),
    ],
)
def test_what_has_no_copy_is_refused_by_name(kind: str, content: str, words: str) -> None:
    package = Package.read(excel.hard())
    package.put("xl/other/other1.xml", content.encode())
    Relationships(package, "xl/worksheets/sheet1.xml").add(kind, "xl/other/other1.xml")

    with pytest.raises(InvalidEditError, match=f"the sheet 'Data' has a {words}"):
        CopySheet(sheet="Data", name="New").apply(opened(package.write().content()), occasion())


@pytest.mark.parametrize(
    ("name", "words"), [("last", "there is a sheet named 'Last' already"), ("a:b", "':' in it"), ("x" * 32, "longer")]
)
def test_a_name_that_excel_would_not_take_is_refused(name: str, words: str) -> None:
    with pytest.raises(InvalidEditError, match=words):
        copied(excel.hard(), name=name)


def test_a_copy_without_a_name_is_called_as_excel_would() -> None:
    book = opened(excel.small("", names=("Plan", "x" * 31)))

    book.copy_sheet("Plan", None, None)
    book.copy_sheet("Plan", None, None)
    book.copy_sheet("x" * 31, None, None)

    assert [node.text for node in book.outline()] == ["Plan", "Plan (3)", "Plan (2)", "x" * 31, "x" * 27 + " (2)"]
