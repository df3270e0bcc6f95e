import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.fill_template import FillTemplate
from officeplane.edits.replace_text import ReplaceText
from officeplane.formats.search import Wanted
from tests.fixtures.documents import excel
from tests.formats.excel.books import (
    MAIN,
    applied,
    assert_sound,
    differing,
    formulas,
    opened,
    part,
    parts,
    reopened,
    value,
    with_cells,
)

STRINGS = "xl/sharedStrings.xml"


def test_a_text_is_replaced_in_every_cell_that_shares_it_and_in_inline_ones() -> None:
    data = with_cells(excel.hard(), "Last", {"C1": "North again"})

    (told,), after = applied(data, ReplaceText(find="North", replace="West"))

    assert told == {
        "id": "Data!A2",
        "replaced": 6,
        "ids": ["Data!A2", "Data!A4", "Data!A5", "Secret!A1", "Last!A1", "Last!C1"],
    }
    assert [value(after, "Data", cell) for cell in ("A2", "A3", "A4", "A5")] == [
        "West",
        "South",
        "East of West",
        "West",
    ]
    assert value(after, "Last", "C1") == "West again"
    assert b"A text box on North" in parts(after)["xl/drawings/drawing1.xml"]
    assert_sound(after)


def test_a_text_that_is_split_over_runs_is_replaced_and_the_runs_keep_their_formatting() -> None:
    _, after = applied(excel.hard(), ReplaceText(find="East of", replace="Far"))

    item = part(after, STRINGS)[5]
    assert [run.findtext(f"{MAIN}t") for run in item] == ["Far", " ", "North"]
    assert item[1].find(f"{MAIN}rPr/{MAIN}b") is not None


def test_how_a_replaced_text_was_pronounced_goes() -> None:
    _, after = applied(excel.hard(), ReplaceText(find="東京", replace="Tokyo"))

    assert value(after, "Data", "C12") == "Tokyo"
    assert b"rPh" not in parts(after)[STRINGS]


def test_only_strings_change() -> None:
    data = excel.hard()

    _, after = applied(data, ReplaceText(find="South", replace="Below"))

    # And what counts the cells that hold them.
    assert differing(data, after) == {STRINGS, "xl/workbook.xml", "xl/worksheets/sheet2.xml"}
    with pytest.raises(InvalidEditError, match="does not stand in it"):
        applied(data, ReplaceText(find="SUM", replace="X"))


def test_a_renamed_header_renames_its_column() -> None:
    _, after = applied(excel.hard(), ReplaceText(find="Amount", replace="Net"))

    assert formulas(after, "xl/worksheets/sheet2.xml")["A2"].startswith("SUM(Sales[Net])")
    assert reopened(after)["Data"].tables["Sales"].column_names == ["Region", "Net", "Double"]


def test_a_cell_does_not_grow_beyond_what_it_holds() -> None:
    data = with_cells(excel.plain(), "Sheet1", {"A2": "x" * 20_000})

    with pytest.raises(InvalidEditError, match="it holds 32767"):
        applied(data, ReplaceText(find="x", replace="xx"))


@given(
    st.text(alphabet="ab_x0041", min_size=1, max_size=3),
    st.text(max_size=5),
    st.text(alphabet="ab_x0041 ", max_size=30),
)
@settings(deadline=None, max_examples=80)
def test_replacing_is_what_replacing_in_a_string_is(find: str, replace: str, text: str) -> None:
    book = opened(excel.small(""))
    book.set_cells("Sheet1", {"A1": text})
    wanted = Wanted(find)
    try:
        ReplaceText(find=find, replace=replace)
    except ValueError:
        return

    places = book.places_of(wanted)
    replaced = book.replace_text(wanted, replace)

    assert places == replaced == ["Sheet1!A1"] * text.count(find)
    assert book.places_of(Wanted("\0")) == []
    after = text.replace(find, replace)
    if after:
        assert book.fingerprint("Sheet1!A1") == _fingerprint(after)


def _fingerprint(text: str) -> str | None:
    book = opened(excel.small(""))
    book.set_cells("Sheet1", {"A1": text})
    return book.fingerprint("Sheet1!A1")


def test_a_cell_that_is_a_placeholder_gets_the_value_with_its_type() -> None:
    (told,), after = applied(excel.hard(), FillTemplate(values={"amount": 12.5, "name": "Ada"}))

    assert value(after, "Data", "B12") == 12.5
    assert reopened(after)["Data"]["B12"].number_format == "#,##0.00"
    assert value(after, "Data", "A12") == " inline Ada "
    assert value(after, "Last", "A1") == "Northern Ada"
    assert formulas(after, "xl/worksheets/sheet1.xml")["F8"] == '"a"&"{{name}}"'
    assert told["filled"] == {"amount": 1, "name": 2}


def test_a_value_that_looks_like_a_placeholder_is_not_filled_again() -> None:
    (told,), after = applied(excel.hard(), FillTemplate(values={"name": "{{amount}}", "amount": 12.5}))

    assert value(after, "Last", "A1") == "Northern {{amount}}"
    assert value(after, "Data", "B12") == 12.5
    assert told["filled"] == {"amount": 1, "name": 2}


def test_a_cell_holds_as_many_characters_as_excel_counts() -> None:
    data = with_cells(excel.plain(), "Sheet1", {"A1": "x"})

    _, full = applied(data, ReplaceText(find="x", replace="\N{PARTY POPPER}" * 16_383))

    assert len(value(full, "Sheet1", "A1")) == 16_383
    with pytest.raises(InvalidEditError, match="32768 characters"):
        applied(data, ReplaceText(find="x", replace="\N{PARTY POPPER}" * 16_384))


def test_inside_a_longer_text_a_value_is_its_text() -> None:
    _, after = applied(excel.hard(), FillTemplate(values={"name": True, "amount": "1"}))

    assert value(after, "Last", "A1") == "Northern true"
    assert value(after, "Data", "B12") == "1"


def test_a_placeholder_that_stands_nowhere_is_refused() -> None:
    with pytest.raises(InvalidEditError, match=r"no \{\{other\}\}"):
        applied(excel.hard(), FillTemplate(values={"other": 1}))


def test_a_fingerprint_is_of_a_cell_alone_and_of_what_is_in_it() -> None:
    book = opened(excel.hard())
    before = {
        target: book.fingerprint(target)
        for target in ("Data!A2", "Data!C5", "Data!", "sheet-1", "Last!", "Data!Z9", "table-1")
    }

    book.set_cells("Data", {"C2": 1, "B4": 2})

    assert book.fingerprint("Data!A2") == before["Data!A2"]
    assert book.fingerprint("Data!C5") == before["Data!C5"]
    assert book.fingerprint("Data!Z9") == before["Data!Z9"] is not None
    assert book.fingerprint("table-1") == before["table-1"] is not None
    assert book.fingerprint("Data!") != before["Data!"] == before["sheet-1"]
    assert book.fingerprint("Last!") == before["Last!"]
    assert book.fingerprint("Nope!A1") is None
    assert book.fingerprint("Nope!") is None
    assert book.fingerprint("table-9") is None
    assert book.fingerprint("Data!ZZZ1") is None
