import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_section import AddSection
from officeplane.edits.add_sheet import AddSheet
from officeplane.edits.delete_sheet import DeleteSheet
from officeplane.edits.rename_sheet import RenameSheet
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
    value,
    written,
)

PLAN = "Q1 'Plan'"


def names_of(data: bytes) -> dict[tuple[str, str | None], str]:
    """Return the defined names, by name and scope."""
    found = part(data, "xl/workbook.xml").iter(f"{MAIN}definedName")
    return {(each.get("name"), each.get("localSheetId")): each.text for each in found}


def test_a_renamed_sheet_is_followed_by_everything_that_names_it() -> None:
    data = excel.hard()

    (told,), after = applied(data, RenameSheet(sheet="Data", name="All data"))

    assert told == {"id": "sheet-1"}
    assert reopened(after).sheetnames[0] == "All data"
    assert formulas(after, "xl/worksheets/sheet2.xml")["A1"] == "SUM('All data'!B2:B5)+Secret!B1"
    assert "COUNTA('All data'!A:A)+LEN(\"Data!A1\")" in formulas(after, "xl/worksheets/sheet2.xml")["A2"]
    assert formulas(after, "xl/worksheets/sheet2.xml")["A3"] == "SUM('All data:Last'!B1)"
    assert formulas(after, "xl/worksheets/sheet1.xml")["C2"] == "B2*2+'All data'!$B$2"
    assert names_of(after)["Amounts", None] == "'All data'!$B$2:$B$5"
    assert names_of(after)["_xlnm.Print_Area", "0"] == "'All data'!$A$1:$F$20"
    held = {name: content.decode("utf-8", "replace") for name, content in parts(after).items()}
    assert "'All data'!$B$2:$B$5" in held["xl/charts/chart1.xml"]
    assert "textlink=\"'All data'!$A$10\"" in held["xl/drawings/drawing1.xml"]
    assert "#'All%20data'!A1" in held["xl/drawings/_rels/drawing1.xml.rels"]
    assert "<xm:f>'All data'!B2:B5</xm:f>" in held["xl/worksheets/sheet1.xml"]
    assert "B2&gt;'All data'!$B$3" in held["xl/worksheets/sheet1.xml"]
    assert "*2+'All data'!$B$2" in held["xl/tables/table1.xml"]
    assert "xl/worksheets/sheet5.xml" not in differing(data, after)
    assert "xl/sharedStrings.xml" not in differing(data, after)
    assert_sound(after)


def test_a_link_to_a_renamed_sheet_leads_there() -> None:
    _, after = applied(excel.hard(), RenameSheet(sheet=PLAN, name="Plan"))

    assert part(after, "xl/worksheets/sheet1.xml").find(f".//{MAIN}hyperlink").get("location") == "Plan!A1"
    assert names_of(after)["Plan", None] == "Plan!$A$1"


def test_a_sheet_may_change_the_case_of_its_letters() -> None:
    _, after = applied(excel.hard(), RenameSheet(sheet="Data", name="DATA"))

    assert reopened(after).sheetnames[0] == "DATA"


@pytest.mark.parametrize(
    "name", ["x" * 32, "a:b", "a/b", "a\\b", "a?", "a*", "[a]", "'a", "a'", " ", "last", "History", "😀" * 16, "a\tb"]
)
def test_a_name_that_excel_would_not_take_is_refused(name: str) -> None:
    with pytest.raises(InvalidEditError):
        applied(excel.hard(), RenameSheet(sheet="Data", name=name))
    with pytest.raises(InvalidEditError):
        applied(excel.hard(), AddSection(title=name))


@given(st.text(min_size=1, max_size=31))
@settings(deadline=None, max_examples=60)
def test_any_name_is_kept_or_refused(name: str) -> None:
    book = opened(excel.hard())
    try:
        RenameSheet(sheet="Data", name=name).apply(book, occasion())
    except (InvalidEditError, ValueError):
        return

    after = written(book)

    assert reopened(after).sheetnames[0] == name
    RenameSheet(sheet=name, name="Data").apply(book, occasion())
    assert formulas(written(book), "xl/worksheets/sheet2.xml")["A1"] == "SUM(Data!B2:B5)+Secret!B1"


def test_a_deleted_sheet_takes_its_parts_and_names_along() -> None:
    (told,), after = applied(excel.hard(), DeleteSheet(sheet="Data"))

    lost = [warning["detail"] for warning in told.pop("warnings")]
    assert told == {"id": "sheet-1"}
    assert "the name Amounts referred to it and says #REF! now" in lost
    assert "Q1 'Plan'!A1 referred to it and says #REF! now" in lost
    gone = {
        "xl/worksheets/sheet1.xml", "xl/worksheets/_rels/sheet1.xml.rels", "xl/tables/table1.xml", "xl/comments1.xml",
        "xl/drawings/drawing1.xml", "xl/drawings/_rels/drawing1.xml.rels", "xl/drawings/vmlDrawing1.vml",
        "xl/charts/chart1.xml", "xl/media/image1.png", "xl/calcChain.xml",
    }  # fmt: skip
    assert parts(excel.hard()).keys() - parts(after).keys() == gone
    assert names_of(after) == {
        ("_xlnm.Print_Area", "0"): "'Q1 ''Plan'''!$A$1:$B$9",
        ("_xlnm.Print_Titles", "3"): "Last!$1:$1",
        ("Amounts", None): "#REF!$B$2:$B$5",
        ("Plan", None): "'Q1 ''Plan'''!$A$1",
    }
    assert formulas(after, "xl/worksheets/sheet2.xml") == {
        "A1": "SUM(#REF!B2:B5)+Secret!B1",
        "A2": 'SUM(#REF!)+COUNTA(#REF!A:A)+LEN("Data!A1")',
        "A3": "SUM('Q1 ''Plan'':Last'!B1)",
        "B3": "SUM(#REF!)",
    }
    assert "<c:f>#REF!</c:f>" in parts(after)["xl/charts/chart2.xml"].decode()
    assert part(after, "xl/workbook.xml").find(f".//{MAIN}workbookView").get("activeTab") == "0"
    assert_sound(after)


def test_a_sparkline_of_a_deleted_sheet_stays_without_what_it_drew() -> None:
    _, after = applied(excel.hard(), DeleteSheet(sheet="Secret"))

    held = parts(after)["xl/worksheets/sheet1.xml"].decode()
    assert "<x14:sparkline><xm:sqref>G3</xm:sqref></x14:sparkline>" in held
    assert "<formula1>#REF!$A$1:$A$3</formula1>" in held


def test_what_others_use_too_outlives_a_deleted_sheet() -> None:
    data = excel.hard()

    _, after = applied(data, DeleteSheet(sheet="Chart1"))

    assert parts(data).keys() - parts(after).keys() == {
        "xl/chartsheets/sheet1.xml", "xl/chartsheets/_rels/sheet1.xml.rels", "xl/drawings/drawing2.xml",
        "xl/drawings/_rels/drawing2.xml.rels", "xl/charts/chart2.xml", "xl/calcChain.xml",
    }  # fmt: skip


def test_the_only_visible_sheet_stays() -> None:
    book = opened(excel.hard())
    for name in ("Data", PLAN, "Chart1"):
        book.delete_sheet(name)

    with pytest.raises(InvalidEditError, match="'Last' is the only visible sheet"):
        book.delete_sheet("Last")
    book.delete_sheet("Secret")

    assert reopened(written(book)).sheetnames == ["Last"]


def test_the_shown_sheet_is_never_a_hidden_one() -> None:
    book = opened(excel.hard())
    book.delete_sheet("Last")
    book.delete_sheet("Chart1")
    book.delete_sheet(PLAN)

    after = written(book)

    assert part(after, "xl/workbook.xml").find(f".//{MAIN}workbookView").get("activeTab") == "0"
    assert reopened(after).sheetnames == ["Data", "Secret"]


def test_a_new_sheet_takes_its_place_and_what_counts_sheets_moves_on() -> None:
    book = opened(excel.hard())

    made = book.add_sheet("New", 1, [])

    after = written(book)
    assert made == "sheet-10"
    assert reopened(after).sheetnames[:3] == ["Data", "New", PLAN]
    assert names_of(after).keys() >= {("_xlnm.Print_Area", "0"), ("_xlnm.Print_Area", "2"), ("_xlnm.Print_Titles", "5")}
    assert part(after, "xl/workbook.xml").find(f".//{MAIN}workbookView").get("activeTab") == "2"
    assert_sound(after)


def test_a_deleted_sheet_leaves_no_declaration_of_its_relationships() -> None:
    book = opened(excel.hard())
    rels = "/xl/worksheets/_rels/sheet1.xml.rels"
    kind = "application/vnd.openxmlformats-package.relationships+xml"
    # LibreOffice declares each of them.
    types = book.package.tree("[Content_Types].xml")
    etree.SubElement(types, types[-1].tag, PartName=rels, ContentType=kind)

    book.delete_sheet("Data")

    assert rels.encode() not in parts(written(book))["[Content_Types].xml"]


def test_content_becomes_rows_of_a_sheet() -> None:
    content = (
        "# Title\n\nA *fine* [link](https://example.org/).\n\n1. one\n2. two\n   - in\n\n"
        "```\n=code\n```\n\n6. six\n\n| h | i |\n|---|---|\n| 1 | -2 |\n"
    )

    _, after = applied(excel.hard(), AddSection(title="Notes", content=content))

    rows = [[cell for cell in row if cell is not None] for row in reopened(after)["Notes"].iter_rows(values_only=True)]
    assert rows == [
        ["Title"], ["A fine link (https://example.org/)."], ["1. one"], ["2. two"], ["   • in"], ["=code"], ["6. six"],
        ["h", "i"], ["1", "-2"],
    ]  # fmt: skip
    assert "<b/>" in parts(after)["xl/worksheets/sheet4.xml"].decode()
    assert_sound(after)


def test_sheets_are_made_without_a_chapter() -> None:
    with pytest.raises(InvalidEditError, match="no chapters"):
        applied(excel.plain(), AddSection(title="x", chapter_id="chapter-1"))


def test_a_sheet_with_a_slicer_stays() -> None:
    book = opened(excel.hard())
    book.package.put("xl/slicerCaches/slicerCache1.xml", b'<s><pivotTables><pivotTable tabId="1"/></pivotTables></s>')

    with pytest.raises(InvalidEditError, match="slicer"):
        book.delete_sheet("Data")


def test_a_sheet_made_by_an_edit_can_be_written_by_its_id() -> None:
    book = opened(excel.plain())
    made = book.add_sheet("Ärger & Co", None, [])

    book.set_cells(made, {"A1": "there"})

    assert value(written(book), "Ärger & Co", "A1") == "there"


def test_what_lies_in_other_files_keeps_its_name() -> None:
    outside = '<hyperlink ref="A1" r:id="rId9" location="Sheet1!A1"/>'
    around = f'<hyperlinks>{outside}<hyperlink ref="A2" location="Sheet1!A1"/></hyperlinks>'
    book = opened(excel.small("<row r='1'><c r='A1'><f>[1]Sheet1!A1+Sheet1!B1</f></c></row>", around=around))
    book.package.put("xl/revisions/revisionLog1.xml", b"<r><nc><f>Sheet1!A1</f></nc></r>")

    book.rename_sheet("Sheet1", "Other")

    after = written(book)
    found = part(after, "xl/worksheets/sheet1.xml").iter(f"{MAIN}hyperlink")
    assert [link.get("location") for link in found] == ["Sheet1!A1", "Other!A1"]
    assert formulas(after, "xl/worksheets/sheet1.xml") == {"A1": "[1]Sheet1!A1+Other!B1"}
    assert b"Sheet1!A1" in parts(after)["xl/revisions/revisionLog1.xml"]


def test_pivots_follow_a_renamed_sheet() -> None:
    book = opened(excel.plain())
    book.package.put("xl/pivotCache/pivotCacheDefinition1.xml", b'<p><worksheetSource ref="A1:B9" sheet="sheet1"/></p>')
    book.package.put("xl/charts/chart9.xml", b"<c><pivotSource><name>[a b.xlsx]Sheet1!Pivot1</name></pivotSource></c>")

    book.rename_sheet("Sheet1", "New name")

    assert b'sheet="New name"' in parts(written(book))["xl/pivotCache/pivotCacheDefinition1.xml"]
    assert b"[a b.xlsx]New name!Pivot1" in parts(written(book))["xl/charts/chart9.xml"]


def test_the_id_of_a_deleted_sheet_is_not_given_again() -> None:
    added = AddSheet(name="New")

    (first, _, second), once = applied(excel.hard(), added, DeleteSheet(sheet="New"), added)
    (_, third), after = applied(once, DeleteSheet(sheet="New"), AddSheet(name="Newer"))

    assert len({first["id"], second["id"], third["id"]}) == 3
    assert_sound(after)
