"""A result that may be of other values than there are says so; a text that looks like a formula does not."""

from officeplane.edits.set_cells import CellValue, FormulaCell, Rows, SetCells
from officeplane.formats.diff import difference
from officeplane.formats.package import Package
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, opened

SHEET = (
    "<row r='1'><c r='A1'><v>1</v></c><c r='B1'><f>A1*2</f><v>2</v></c></row><row r='2'><c r='B2'><f>B1+1</f></c>"
    "<c r='C2'><f>TEXT(A1,&quot;0&quot;)</f><v>1</v></c><c r='D2'><f>C9*2</f><v>0</v></c></row>"
)


def to_calculate(data: bytes) -> bytes:
    """Return a workbook whose maker has calculated nothing, and says so."""
    package = Package.read(data)
    book = package.content("xl/workbook.xml")
    package.put("xl/workbook.xml", book.replace(b"</sheets>", b"</sheets><calcPr fullCalcOnLoad='1'/>"))
    return package.write().content()


def test_before_any_edit_results_are_what_the_file_says() -> None:
    book = opened(excel.small(SHEET))

    assert book.text() == "Sheet1\n1\t2\n\t=B1+1 [stale]\t1\t0"
    assert [node.marks for node in book.outline()[0].children] == [{"stale": 1}]


def test_results_of_a_workbook_that_is_to_be_calculated_are_stale() -> None:
    book = opened(to_calculate(excel.small(SHEET)))

    assert book.text() == "Sheet1\n1\t2 [stale]\n\t=B1+1 [stale]\t1 [stale]\t0 [stale]"
    assert [node.marks for node in book.outline()[0].children] == [{"stale": 4}]


def test_after_an_edit_only_results_are_missing_that_may_be_others_now_and_cannot_be_calculated_here() -> None:
    _, after = applied(excel.small(SHEET), SetCells(sheet="Sheet1", cells={"A1": 99_999}))

    book = opened(after)

    assert book.text() == 'Sheet1\n99999\t199998\n\t199999\t=TEXT(A1,"0") [stale]\t0'
    assert [node.marks for node in book.outline()[0].children] == [{"stale": 1}]


def test_the_first_edit_of_a_workbook_that_is_to_be_calculated_calculates_all_of_it() -> None:
    _, after = applied(to_calculate(excel.small(SHEET)), SetCells(sheet="Sheet1", cells={"Z9": 1}))

    assert opened(after).text() == 'Sheet1\n1\t2\n\t3\t=TEXT(A1,"0") [stale]\t0\n\t\t\t\t1'


def test_a_text_that_looks_like_a_formula_is_told_from_one_and_warned_of() -> None:
    cells: dict[str, CellValue | Rows] = {"F1": "=A1*2", "F2": FormulaCell(formula="=NOW()"), "F3": "=", "F4": "a = b"}

    (told,), after = applied(excel.small(SHEET), SetCells(sheet="Sheet1", cells=cells))

    assert [line.rpartition("\t")[2] for line in opened(after).text().splitlines()[1:]] == [
        "=A1*2", "=NOW() [stale]", "=", "a = b",
    ]  # fmt: skip
    (warning,) = told["warnings"]
    assert warning["code"] == "formula_as_text"
    assert warning["detail"].startswith("F1 ")
    assert '{"formula": "=A1*2"}' in warning["detail"]


def test_what_an_edit_does_not_concern_is_no_difference() -> None:
    before = opened(excel.small(SHEET))
    _, after = applied(excel.small(SHEET), SetCells(sheet="Sheet1", cells={"D4": "new"}))

    told = difference(before.comparable(), opened(after).comparable())

    assert [line for line in told["text"] if line[:1] in "+-"] == ["+\t\t\tnew"]
