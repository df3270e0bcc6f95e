from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.move_node import MoveNode
from officeplane.formats.excel.workbook import Workbook
from tests.fixtures.documents import excel
from tests.formats.excel.books import MAIN, assert_sound, differing, occasion, opened, part, reopened, written

ORDER = ["Data", "Q1 'Plan'", "Secret", "Chart1", "Last"]


def names_of(book: Workbook) -> list[str]:
    return [node.text for node in book.outline()]


@pytest.mark.parametrize("position", [0, 1, 2, 3, 4, 99])
@pytest.mark.parametrize("sheet", ORDER)
def test_a_moved_sheet_stands_where_it_was_put_and_names_stay_with_their_sheets(sheet: str, position: int) -> None:
    book = opened(excel.hard())

    moved = book.move_sheet(sheet, position)

    rest = [name for name in ORDER if name != sheet]
    expected = [*rest[:position], sheet, *rest[position:]]
    after = written(book)
    assert names_of(book) == expected == reopened(after).sheetnames
    assert book.outline()[expected.index(sheet)].id == moved
    scopes = {
        (each.get("name"), expected[int(each.get("localSheetId"))])
        for each in part(after, "xl/workbook.xml").iter(f"{MAIN}definedName")
        if each.get("localSheetId")
    }
    assert scopes == {
        ("_xlnm.Print_Area", "Data"), ("_xlnm.Print_Area", "Q1 'Plan'"), ("_xlnm.Print_Titles", "Last"),
    }  # fmt: skip
    (view,) = part(after, "xl/workbook.xml").iter(f"{MAIN}workbookView")
    assert expected[int(view.get("activeTab"))] == "Q1 'Plan'"
    assert_sound(after)


def test_a_sheet_that_stays_where_it_is_changes_nothing() -> None:
    book = opened(excel.hard())

    book.move_sheet("Last", 99)

    assert differing(excel.hard(), written(book)) == set()


@pytest.mark.parametrize(
    ("sheet", "position", "formula"),
    [
        ("B", 0, "SUM(A:D!X1)+A!X1+SUM(D:A!X1)"),
        ("A", 2, "SUM(A:D!X1)+A!X1+SUM(D:A!X1)"),
        ("A", 3, "SUM(B:D!X1)+A!X1+SUM(B:D!X1)"),
        ("D", 0, "SUM('A:C'!X1)+A!X1+SUM('A:C'!X1)"),
    ],
)
def test_a_stretch_of_sheets_ends_beside_the_moved_one_when_that_has_gone_past_its_other_end(
    sheet: str, position: int, formula: str
) -> None:
    rows = "<row r='1'><c r='B1'><f>SUM(A:D!X1)+A!X1+SUM(D:A!X1)</f></c></row>"
    book = opened(excel.small(rows, names=("A", "B", "C", "D")))

    book.move_sheet(sheet, position)

    found = part(written(book), "xl/worksheets/sheet1.xml").findtext(f".//{MAIN}f")
    assert found == formula


def test_a_sheet_in_front_stays_in_front_where_the_file_leaves_that_to_its_place() -> None:
    book = opened(excel.hard())
    root = book.package.tree("xl/workbook.xml")
    (view,) = root.iter(f"{MAIN}workbookView")
    del view.attrib["activeTab"]

    book.move_sheet("Data", 2)

    after: Any = reopened(written(book))
    assert after.active.title == "Data"


@pytest.mark.parametrize(
    ("node", "side", "beside", "expected"),
    [
        ("Data", "after", "Secret", ["Q1 'Plan'", "Secret", "Data", "Chart1", "Last"]),
        ("Last", "before", "Data", ["Last", "Data", "Q1 'Plan'", "Secret", "Chart1"]),
        ("Data", "before", "Last", ["Q1 'Plan'", "Secret", "Chart1", "Data", "Last"]),
    ],
)
def test_a_sheet_is_moved_beside_another_by_their_ids(node: str, side: str, beside: str, expected: list[str]) -> None:
    book = opened(excel.hard())
    ids = {one.text: one.id for one in book.outline()}

    result = MoveNode.model_validate({"nodeId": ids[node], side: ids[beside]}).apply(book, occasion())

    assert names_of(book) == expected
    assert result == {"id": ids[node]}


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({"nodeId": "sheet-1", "into": "sheet-2"}, "give before or after"),
        ({"nodeId": "sheet-1", "after": "sheet-1"}, "beside itself"),
        ({"nodeId": "Data", "after": "sheet-2"}, "is no sheet"),
        ({"nodeId": "sheet-1", "after": "range-1"}, "is no sheet"),
    ],
)
def test_a_sheet_that_cannot_be_moved_there_is_refused(payload: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidEditError, match=told):
        MoveNode.model_validate(payload).apply(opened(excel.hard()), occasion())
