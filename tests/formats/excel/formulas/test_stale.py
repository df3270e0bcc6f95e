"""A result that was calculated before something changed says so; a text that looks like a formula does not."""

from officeplane.edits.set_cells import CellValue, FormulaCell, Rows, SetCells
from officeplane.formats.diff import difference
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, opened

SHEET = (
    "<row r='1'><c r='A1'><v>1</v></c><c r='B1'><f>A1*2</f><v>2</v></c></row><row r='2'><c r='B2'><f>B1+1</f></c></row>"
)


def test_before_any_edit_results_are_what_the_file_says() -> None:
    book = opened(excel.small(SHEET))

    assert book.text() == "Sheet1\n1\t2\n\t=B1+1 [stale]"
    assert [node.marks for node in book.outline()[0].children] == [{}]


def test_after_an_edit_every_result_is_marked_in_text_and_outline_until_somebody_calculates() -> None:
    _, after = applied(excel.small(SHEET), SetCells(sheet="Sheet1", cells={"A1": 99_999}))

    book = opened(after)

    assert book.text() == "Sheet1\n99999\t2 [stale]\n\t=B1+1 [stale]"
    assert [node.marks for node in book.outline()[0].children] == [{"stale": 2}]


def test_a_text_that_looks_like_a_formula_is_told_from_one_and_warned_of() -> None:
    cells: dict[str, CellValue | Rows] = {"C1": "=A1*2", "C2": FormulaCell(formula="=A1*3"), "C3": "=", "C4": "a = b"}

    (told,), after = applied(excel.small(SHEET), SetCells(sheet="Sheet1", cells=cells))

    assert [line.rpartition("\t")[2] for line in opened(after).text().splitlines()[1:]] == [
        "=A1*2", "=A1*3 [stale]", "=", "a = b",
    ]  # fmt: skip
    (warning,) = told["warnings"]
    assert warning["code"] == "formula_as_text"
    assert warning["detail"].startswith("C1 ")
    assert '{"formula": "=A1*2"}' in warning["detail"]


def test_that_results_are_stale_is_no_difference() -> None:
    before = opened(excel.small(SHEET))
    _, after = applied(excel.small(SHEET), SetCells(sheet="Sheet1", cells={"D4": "new"}))

    told = difference(before.comparable(), opened(after).comparable())

    assert [line for line in told["text"] if line[:1] in "+-"] == ["+\t\tnew"]
