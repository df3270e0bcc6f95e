"""Edits of tables: what is named changes, everything else stays, and the grid stays a grid."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.edit_table import EditTable
from officeplane.formats.reading.detail import Detail
from officeplane.formats.word.document import Word
from officeplane.formats.word.table_edits.grid import Grid
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import MAIN, W, applied, assert_sound, opened, reopened, written

PLAIN = [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]]


def saying(rows: list[list[str]]) -> bytes:
    made = documents.table(
        *("".join(documents.cell(documents.text(text)) for text in row) for row in rows), columns=len(rows[0])
    )
    return documents.document(made + documents.text("after"))


def tables(word: Word) -> list[Detail]:
    return [one for one in word.reader().tree.by_id.values() if one.kind == "table"]


def edited(word: Word, **payload: Any) -> Result:
    result = applied(word, EditTable.model_validate({"tableId": tables(word)[0].id, **payload}))
    assert_sound(word)
    assert result["id"] == tables(word)[0].id
    check_grid(word)
    return result


def check_grid(word: Word) -> None:
    """Each row covers as many columns as the grid has, and lower parts of merged cells have an upper one."""
    for table in word.package.tree(MAIN).iter(f"{W}tbl"):
        grid = Grid(table)
        assert len(table.findall(f"{W}tblGrid/{W}gridCol")) == grid.columns
        for line in grid.lines:
            assert line
            assert line[-1].end == grid.columns + 1
            assert all(one.end == other.column for one, other in pairwise(line))
            for cell in line:
                assert not cell.goes_on or grid.parts(cell)[0].row < cell.row


def rows(word: Word) -> list[list[str]]:
    """Return what python-docx reads in each place of the first table."""
    return [[cell.text for cell in row.cells] for row in reopened(word).tables[0].rows]


def test_cells_say_something_else_in_the_formatting_they_have() -> None:
    bold = documents.cell(documents.paragraph(documents.run("old", "<w:b/>"), '<w:jc w:val="right"/>'))
    word = opened(documents.document(documents.table(bold + documents.cell(documents.text("x"))) + documents.text("z")))

    edited(word, cells={"A1": "new\nwords", "B1": ""})

    (cell, empty) = reopened(word).tables[0].rows[0].cells
    assert (cell.text, empty.text) == ("new\nwords", "")
    assert cell.paragraphs[0].runs[0].bold
    assert cell.paragraphs[0].alignment is not None


def test_a_cell_that_says_so_already_is_left_alone() -> None:
    word = opened(documents.nested_tables())
    before = written(word)
    table = tables(word)[0]

    with pytest.raises(InvalidEditError, match="A1 to"):
        applied(word, EditTable(table_id=table.id, cells={"Z9": "x"}))
    word.package.rollback()

    assert written(word) == before


def test_rows_come_where_they_are_wanted_and_look_like_the_one_they_push_down() -> None:
    word = opened(saying(PLAIN))

    edited(word, insertRows={"at": 2, "count": 2, "texts": [["x", "y"]]})
    assert rows(word) == [PLAIN[0], ["x", "y", ""], ["", "", ""], *PLAIN[1:]]

    edited(word, insertRows={"at": 6, "texts": [["l", "m", "n"]]})
    assert rows(word)[-1] == ["l", "m", "n"]


def test_a_row_below_the_header_is_no_header() -> None:
    word = opened(saying(PLAIN))
    edited(word, headerRow=True)
    edited(word, insertRows={"at": 1})

    headers = [row for row in word.package.tree(MAIN).iter(f"{W}tr") if row.find(f"{W}trPr/{W}tblHeader") is not None]
    assert len(headers) == 1
    edited(word, headerRow=False)
    assert word.package.tree(MAIN).find(f".//{W}tblHeader") is not None


def test_places_are_those_of_the_table_as_it_was_read() -> None:
    word = opened(saying(PLAIN))

    edited(
        word,
        cells={"C3": "last"},
        insertRows={"at": 3, "texts": [["n"]]},
        deleteRows={"at": 1},
        insertColumns={"at": "D", "texts": [["1", "2", "3"]]},
        deleteColumns={"at": "B"},
    )

    assert rows(word) == [["d", "f", "1"], ["n", "", "2"], ["g", "last", "3"]]


def test_cells_become_one_that_says_what_all_said_and_are_taken_apart_again() -> None:
    word = opened(saying(PLAIN))

    edited(word, merge=["A1:B2"])
    assert rows(word)[:2] == [["a\nb\nd\ne", "a\nb\nd\ne", "c"], ["a\nb\nd\ne", "a\nb\nd\ne", "f"]]
    with pytest.raises(InvalidEditError, match="B2 is covered by the merged cell A1"):
        edited(word, cells={"B2": "x"})
    with pytest.raises(InvalidEditError, match="only part of the merged cell A1:B2"):
        edited(word, merge=["B1:C1"])

    edited(word, split=["A1"])
    assert rows(word)[:2] == [["a\nb\nd\ne", "", "c"], ["", "", "f"]]
    with pytest.raises(InvalidEditError, match="no merged cell"):
        edited(word, split=["A1"])


def test_what_a_merged_cell_says_outlives_its_first_row_and_its_first_column() -> None:
    word = opened(saying(PLAIN))
    edited(word, merge=["A1:A2", "B3:C3"], cells={"A1": "tall", "A2": "", "B3": "wide", "C3": ""})

    edited(word, deleteRows={"at": 1}, deleteColumns={"at": "B"})

    assert rows(word) == [["tall", "f"], ["g", "wide"]]


def test_a_row_in_the_middle_of_a_merged_cell_is_part_of_it() -> None:
    word = opened(saying(PLAIN))
    edited(word, merge=["A1:A2"])

    edited(word, insertRows={"at": 2, "texts": [["x", "y"]]})

    assert [row[0] for row in rows(word)] == ["a\nd", "a\nd", "a\nd", "g"]
    assert rows(word)[1][1:] == ["x", "y"]


def test_the_table_stays_as_wide_as_it_is() -> None:
    word = opened(saying(PLAIN))

    def widths() -> list[int]:
        return [int(column.get(f"{W}w", "")) for column in word.package.tree(MAIN).iter(f"{W}gridCol")]

    before = sum(widths())
    edited(word, insertColumns={"at": "B", "count": 2})

    assert len(widths()) == 5
    assert abs(sum(widths()) - before) <= 5


def test_a_table_in_a_cell_is_not_lost_without_a_word() -> None:
    inner = documents.table(documents.cell(documents.text("in")), columns=1) + documents.text("")
    nested = documents.table(documents.cell(inner), columns=1)
    word = opened(documents.document(nested + documents.text("z")))

    with pytest.raises(InvalidEditError, match="it would destroy what it does not name"):
        edited(word, cells={"A1": "text"})
    word.package.rollback()

    result = edited(word, cells={"A1": "text"}, discard=True)
    assert [warning["code"] for warning in result["warnings"]] == ["lost"]


def test_who_asks_for_too_much_is_told_what_there_is() -> None:
    word = opened(saying(PLAIN))

    for payload, told in (
        ({"insertRows": {"at": 5}}, "4 is behind the last"),
        ({"insertColumns": {"at": "E"}}, "D is behind the last"),
        ({"deleteRows": {"at": 2, "count": 3}}, "more than there are"),
        ({"deleteColumns": {"at": "A", "count": 3}}, "delete_node"),
        ({"style": "No such"}, "has no table style"),
        ({"insertRows": {"at": 1, "texts": [["1", "2", "3", "4"]]}}, "3 cells"),
        ({"insertColumns": {"at": "A", "count": 61}}, "63"),
    ):
        with pytest.raises(InvalidEditError, match=told):
            edited(word, **payload)
        word.package.rollback()
    with pytest.raises(InvalidEditError, match="give the id of a table"):
        applied(word, EditTable(table_id=word.outline()[0].id, header_row=True))


def test_a_table_in_a_header_is_edited_like_any_other() -> None:
    inner = documents.table(documents.cell(documents.text("in")), columns=1) + documents.text("")
    data = documents.document(
        documents.text("body"),
        section='<w:headerReference w:type="default" r:id="rIdHeader"/>',
        parts={"rIdHeader": ("header", inner)},
    )
    word = opened(data)

    applied(word, EditTable(table_id=tables(word)[0].id, cells={"A1": "out"}))

    assert "out" in word.text()
    assert_sound(word)


_SIZES = st.integers(1, 4)
_OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(("insertRows", "deleteRows", "insertColumns", "deleteColumns")),
        st.integers(0, 9),
        st.integers(1, 3),
    ),
    max_size=6,
)


@given(_SIZES, _SIZES, _OPERATIONS)
def test_rows_and_columns_come_and_go_as_in_a_list_of_lists(
    height: int, width: int, operations: list[tuple[str, int, int]]
) -> None:
    model = [[f"{row}.{column}" for column in range(width)] for row in range(height)]
    word = opened(saying(model))

    for what, place, count in operations:
        across = what.endswith("Columns")
        lines = [list(column) for column in zip(*model, strict=True)] if across else [list(row) for row in model]
        is_new = what.startswith("insert")
        at = place % (len(lines) + 1 if is_new else len(lines))
        amount = count if is_new else min(count, len(lines) - at)
        if amount == len(lines) and not is_new:
            continue
        texts = [[f"n{number}" for _ in lines[0]] for number in range(amount)]
        if is_new:
            lines[at:at] = texts
        else:
            del lines[at : at + amount]
        named: Any = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[at] if across else at + 1
        edited(word, **{what: {"at": named, "count": amount, **({"texts": texts} if is_new else {})}})
        model = [list(row) for row in zip(*lines, strict=True)] if across else lines

    assert rows(word) == model
