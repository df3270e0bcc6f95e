"""After an edit each result is right or is not there; what the edit does not concern is as it was."""

import re

import pytest

from officeplane.edits.append_rows import AppendRows
from officeplane.edits.copy_sheet import CopySheet
from officeplane.edits.define_name import DefineName
from officeplane.edits.delete_sheet import DeleteSheet
from officeplane.edits.move_node import MoveNode
from officeplane.edits.rename_sheet import RenameSheet
from officeplane.edits.set_cells import SetCells
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.package import Package
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, assert_sound, differing, occasion, opened, written
from tests.formats.excel.recalculation.results import a_book, results, set_cell


def test_what_depends_on_a_cell_follows_over_sheets_and_the_rest_is_as_it_was() -> None:
    data = a_book(
        {"S": {"A1": 1, "B1": "=A1*2", "C1": "=C9+1"}, "T": {"A1": "=S!B1+1", "A2": "=SUM(A1:A1)"}, "U": {"A1": "=1+1"}}
    )

    _, after = applied(data, set_cell("A1", 5))

    assert results(after) == {"S!B1": 10, "S!C1": 1, "T!A1": 11, "T!A2": 11, "U!A1": 2}
    assert "xl/worksheets/sheet3.xml" not in differing(data, after)


@pytest.mark.parametrize(
    "formula",
    [
        'INDIRECT("A1")', "OFFSET(B1,0,-1)", "NOW()", "RAND()", "TODAY()+A9", "SUM(B9:INDEX(B1:B9,2))",
        'CELL("row",A9)', "NOSUCHNAME", "X!A1+0",
    ],
)  # fmt: skip
def test_what_may_read_anything_has_no_result_after_an_edit_and_nor_has_what_depends_on_it(formula: str) -> None:
    rows = (
        "<row r='1'><c r='A1'><v>1</v></c>"
        f"<c r='C1'><f>{formula}</f><v>1</v></c><c r='D1'><f>C1+1</f><v>2</v></c></row>"
    )

    _, after = applied(excel.small(rows), set_cell("Z5", 1, "Sheet1"))

    assert results(after) == {"Sheet1!C1": "stale", "Sheet1!D1": "stale"}


def test_a_link_to_another_workbook_keeps_what_it_brought_until_a_cell_beside_it_changes() -> None:
    rows = (
        "<row r='1'><c r='A1'><v>1</v></c><c r='B1'><f>[1]Other!A1</f><v>7</v></c>"
        "<c r='C1'><f>[1]Other!A1+A1</f><v>8</v></c></row>"
    )

    _, same = applied(excel.small(rows), set_cell("Z5", 1, "Sheet1"))
    _, other = applied(excel.small(rows), set_cell("A1", 2, "Sheet1"))

    assert results(same) == {"Sheet1!B1": 7, "Sheet1!C1": 8}
    assert results(other) == {"Sheet1!B1": 7, "Sheet1!C1": "stale"}


def test_names_are_followed_and_what_they_stand_for_may_be_another() -> None:
    sheets = {"S": {"A1": 1, "A2": 10, "B1": "=rate*100", "B2": "=A9"}}
    data = a_book(sheets, names={"rate": "=S!$A$1"})
    assert results(data)["S!B1"] == 100

    _, changed = applied(data, set_cell("A1", 2))
    _, renamed = applied(data, DefineName(name="rate", refers_to="=S!$A$2"))

    assert results(changed) == {"S!B1": 200, "S!B2": 0}
    assert results(renamed) == {"S!B1": 1000, "S!B2": 0}


def test_a_name_that_is_given_later_is_what_a_formula_has_waited_for() -> None:
    data = a_book({"S": {"A1": 3, "B1": "=later+1"}})
    assert results(data) == {"S!B1": "stale"}

    _, after = applied(data, DefineName(name="later", refers_to="=S!$A$1"))

    assert results(after) == {"S!B1": 4}


def test_rows_under_a_table_are_added_to_what_adds_its_column() -> None:
    known = a_book(
        {"T": {"A1": "name", "B1": "n", "A2": "a", "B2": 1, "A3": "b", "B3": 2, "D1": "=SUM(Sold[n])"}}, table="A1:B3"
    )

    _, after = applied(known, AppendRows(sheet="T", rows=[["x", 6]]))

    assert results(known)["T!D1"] == 3
    assert results(after)["T!D1"] == 9


def test_a_shared_formula_is_calculated_in_each_of_its_cells() -> None:
    _, after = applied(excel.hard(), SetCells(sheet="Data", cells={"B2": 100}))

    told = results(after)
    assert [told[f"Data!C{row}"] for row in (2, 3, 4, 5)] == [300, 104, 106, 108]


def test_cells_that_an_array_formula_fills_lose_what_they_showed_with_it() -> None:
    rows = (
        "<row r='1'><c r='A1'><v>1</v></c><c r='B1'><f t='array' ref='B1:B2'>A1:A2*2</f><v>2</v></c>"
        "<c r='C1'><f>B2+1</f><v>5</v></c></row><row r='2'><c r='A2'><v>2</v></c><c r='B2'><v>4</v></c></row>"
    )

    _, after = applied(excel.small(rows), set_cell("A2", 9, "Sheet1"))

    told = {item["cell"]: item for item in opened(after).cells(CellsWanted(sheet="Sheet1")).items}
    assert results(after) == {"Sheet1!B1": "stale", "Sheet1!C1": "stale"}
    assert told["B2"] == {"cell": "B2", "value": None, "stale": True}
    assert_sound(after)


def test_formulas_that_read_each_other_in_a_circle_are_not_told() -> None:
    data = a_book({"S": {"A1": "=B1+1", "B1": "=A1+1", "C1": "=B1", "D1": 4, "E1": "=D1"}})

    assert results(data) == {"S!A1": "stale", "S!B1": "stale", "S!C1": "stale", "S!E1": 4}


def test_what_is_in_a_circle_is_not_told_even_where_it_would_not_come_to_it() -> None:
    cells = {
        "A1": "=VLOOKUP(NA(),B1:D2,2,FALSE)",
        "B1": "=A1+1",
        "C1": "=SUM(C1:C2)",
        "D1": "=A1",
        "E1": "=F1+1",
        "F1": 2,
    }
    data = a_book({"S": cells})

    assert results(data) == {"S!A1": "stale", "S!B1": "stale", "S!C1": "stale", "S!D1": "stale", "S!E1": 3}


def test_a_chain_of_thousands_is_followed_to_its_end() -> None:
    data = a_book({"S": {"A1": 1, **{f"A{row}": f"=A{row - 1}+1" for row in range(2, 5001)}}})

    _, after = applied(data, set_cell("A1", 10))

    assert results(after)["S!A5000"] == 5009


def test_running_totals_that_overlap_are_followed_each_once() -> None:
    cells = {f"A{row}": row for row in range(1, 301)} | {f"B{row}": f"=SUM(A$1:A{row})" for row in range(1, 301)}
    data = a_book({"S": {**cells, "C1": "=SUM(B1:B300)"}})

    _, after = applied(data, set_cell("A200", 0))

    told = results(after)
    assert (told["S!B199"], told["S!B200"], told["S!B300"]) == (19_900, 19_900, 44_950)
    assert told["S!C1"] == sum(sum(each for each in range(1, row + 1) if each != 200) for row in range(1, 301))


def test_formulas_over_stretches_of_sheets_know_of_sheets_that_come_and_go() -> None:
    data = a_book({"S": {"A1": 1}, "T": {"A1": 2}, "U": {"A1": 3, "B1": "=SUM(S:U!A1)", "B2": "=A1"}})
    data = with_result(data, "xl/worksheets/sheet3.xml", "B1", "6")

    _, copied = applied(data, CopySheet(sheet="T", name="T 2", position=2))
    _, deleted = applied(data, DeleteSheet(sheet="T"))
    _, moved = applied(data, MoveNode(node_id=opened(data).outline()[1].id, before=opened(data).outline()[0].id))
    _, renamed = applied(data, RenameSheet(sheet="T", name="V"))

    for after in (copied, deleted, moved, renamed):
        assert results(after) == {"U!B1": "stale", "U!B2": 3}


def with_result(data: bytes, part: str, cell: str, result: str) -> bytes:
    package = Package.read(data)
    content = re.sub(
        rf'(<c r="{cell}"[^>]*><f>[^<]*</f>)(?:<v ?/>|<v></v>)?'.encode(), rf"\g<1><v>{result}</v>".encode(),
        package.content(part),
    )  # fmt: skip
    package.put(part, content)
    return package.write().content()


def test_what_referred_to_a_deleted_sheet_says_so_and_so_does_what_depends_on_it() -> None:
    data = a_book({"S": {"A1": 1}, "T": {"A1": "=S!A1", "A2": "=A1+1", "A3": "=1+1"}})

    _, after = applied(data, DeleteSheet(sheet="S"))

    assert results(after) == {"T!A1": {"error": "#REF!"}, "T!A2": {"error": "#REF!"}, "T!A3": 2}


def test_a_precision_as_people_see_it_is_left_to_office_programs() -> None:
    package = Package.read(excel.small("<row r='1'><c r='A1'><v>1</v></c><c r='B1'><f>A1*2</f><v>2</v></c></row>"))
    book = package.content("xl/workbook.xml")
    package.put("xl/workbook.xml", book.replace(b"</sheets>", b"</sheets><calcPr fullPrecision='0'/>"))

    _, after = applied(package.write().content(), set_cell("A1", 2, "Sheet1"))

    assert results(after) == {"Sheet1!B1": "stale"}


def test_a_failed_edit_leaves_nothing_that_a_later_one_would_calculate() -> None:
    data = a_book({"S": {"A1": 1, "B1": "=A1*2"}})
    book = opened(data)
    book.set_cells("S", {"A1": 50})
    book.package.rollback()

    set_cell("Z5", 1).apply(book, occasion())

    _, fresh = applied(data, set_cell("Z5", 1))
    assert written(book) == fresh


def test_what_sumif_adds_is_as_large_as_what_it_compares_however_much_is_named() -> None:
    rows = (
        "<row r='1'><c r='A1'><v>1</v></c><c r='B1'><v>1</v></c><c r='C1'><f>SUMIF(A1:A2,1,B1)</f><v>3</v></c></row>"
        "<row r='2'><c r='A2'><v>1</v></c><c r='B2'><v>2</v></c></row>"
    )

    _, after = applied(excel.small(rows), set_cell("B2", 5, "Sheet1"))

    assert results(after) == {"Sheet1!C1": "stale"}


def test_names_that_stand_for_others_many_times_do_not_take_for_ever() -> None:
    names = {f"name_{at}": "=" + "+".join([f"name_{at + 1}"] * 40) for at in range(6)} | {"name_6": "=1"}
    package = Package.read(
        excel.small("<row r='1'><c r='A1'><f>name_0+name_2</f></c><c r='B1'><f>name_4</f></c></row>")
    )
    defined = "".join(f"<definedName name='{name}'>{text[1:]}</definedName>" for name, text in names.items())
    book = package.content("xl/workbook.xml")
    package.put(
        "xl/workbook.xml", book.replace(b"</sheets>", f"</sheets><definedNames>{defined}</definedNames>".encode())
    )

    _, after = applied(
        package.write().content(), set_cell("Z1", 1, "Sheet1"), set_cell("B1", {"formula": "=name_4"}, "Sheet1")
    )

    assert results(after) == {"Sheet1!A1": "stale", "Sheet1!B1": 1600}


def test_a_formula_of_thousands_of_operators_is_not_told() -> None:
    formula = "+".join(["A1"] * 2_000)
    rows = f"<row r='1'><c r='A1'><v>1</v></c><c r='B1'><f>{formula}</f><v>2000</v></c></row>"

    _, after = applied(excel.small(rows), set_cell("A1", 2, "Sheet1"))

    assert results(after) == {"Sheet1!B1": "stale"}


def test_a_sheet_of_letters_of_two_bytes_has_formulas_as_well() -> None:
    data = a_book({"S": {"A1": 1}, "T": {"A1": "=S!A1*2"}})
    package = Package.read(data)
    sheet = package.content("xl/worksheets/sheet2.xml").decode().partition("?>")[2]
    package.put("xl/worksheets/sheet2.xml", f"<?xml version='1.0' encoding='UTF-16'?>{sheet}".encode("utf-16"))

    _, after = applied(package.write().content(), set_cell("A1", 4))

    assert results(after) == {"T!A1": 8}


def test_whole_columns_and_rows_without_a_dollar_are_what_they_say_in_each_cell() -> None:
    cells = {"A1": 1, "B1": 20, "A2": 300, "F4": "=SUM(A:A)", "G4": "=SUM(A:A)", "F5": "=SUM(A:B)", "F6": "=SUM(1:2)"}
    data = a_book(
        {"S": {"A1": "=SUM(T!A:A)", "B1": "=SUM(T!A:A)", "B2": "=SUM(T!B:B)", "B3": "=SUM(T!B:B)"}, "T": cells}
    )

    _, after = applied(data, set_cell("A2", 400, "T"))

    told = results(after)
    assert {cell: told[cell] for cell in told if cell[0] == "S"} == {"S!A1": 401, "S!B1": 401, "S!B2": 20, "S!B3": 20}
    assert {cell: told[cell] for cell in told if cell[0] == "T"} == {
        "T!F4": 401, "T!G4": 401, "T!F5": 421, "T!F6": 421,
    }  # fmt: skip
