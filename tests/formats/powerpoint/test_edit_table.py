"""Edits of tables on slides: what is named changes, everything else stays, and the grid stays a grid."""

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.edit_node import EditNode
from officeplane.edits.edit_table import EditTable
from officeplane.edits.insert_table import InsertTable
from officeplane.formats.powerpoint.names import attribute_number
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.powerpoint.table_edits.merged import merged_areas
from officeplane.formats.powerpoint.table_grid import TableGrid
from officeplane.formats.relationships import Relationships
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import A, P, applied, differing, opened, parts, reopened, written

PLAIN: Final = [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]]
EXTENSIONS: Final = "{http://schemas.microsoft.com/office/drawing/2014/main}"


def saying(rows: list[list[str]]) -> Presentation:
    deck = opened(powerpoint.plain())
    applied(deck, InsertTable(rows=[[*row] for row in rows]))
    return opened(deck.package.write().content())


def table_of(deck: Presentation) -> str:
    return next(each.id for each in deck.reader().tree.by_id.values() if each.kind == "table")


def frame(deck: Presentation) -> Any:
    return deck.reader().tree.by_id[table_of(deck)].source.shape


def element(deck: Presentation) -> Any:
    return grid(deck).table


def grid(deck: Presentation) -> TableGrid:
    return TableGrid(frame(deck).find(f".//{A}tbl"))


def edited(deck: Presentation, **payload: Any) -> Result:
    result = applied(deck, EditTable.model_validate({"tableId": table_of(deck), **payload}))
    check_grid(deck)
    assert opened(written(deck)).text() == deck.text()
    assert result["id"] == table_of(deck)
    assert (result["rows"], result["columns"]) == (len(grid(deck).rows), grid(deck).columns)
    return result


def check_grid(deck: Presentation) -> None:
    """Each row has as many cells as the grid has columns, merged cells fit together, the frame is as large as both."""
    found = grid(deck)
    columns = found.table.findall(f"{A}tblGrid/{A}gridCol")
    assert {len(line) for line in found.lines} == {len(columns)}
    merged_areas(found)
    extent = frame(deck).find(f"{P}xfrm/{A}ext")
    assert abs(int(extent.get("cx")) - sum(attribute_number(each, "w", 0) for each in columns)) < 9
    assert abs(int(extent.get("cy")) - sum(attribute_number(each, "h", 0) for each in found.rows)) < 9


def said(deck: Presentation) -> list[list[str]]:
    tree = deck.reader().tree
    return [[cell.text for cell in row.children] for row in tree.by_id[table_of(deck)].children]


def areas(deck: Presentation) -> list[str]:
    return [str(each) for each in merged_areas(grid(deck))]


def test_cells_say_something_else_in_the_formatting_they_have() -> None:
    deck = opened(powerpoint.tables())
    before = deck.package.write().content()

    edited(deck, cells={"A3": "new", "B2": "two\nlines", "C1": ""})

    table = reopened(written(deck)).slides[0].shapes[2].table
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["r0c0\nr0c1", "", ""], ["r1c0", "two\nlines", "r1c2\nr2c2"], ["new", "r2c1", ""],
    ]  # fmt: skip
    assert table.cell(2, 0).text_frame.paragraphs[0].runs[0].font.bold is True
    assert differing(before, written(deck)) == {"ppt/slides/slide1.xml"}


def test_a_cell_that_says_so_already_is_left_as_it_is() -> None:
    deck = opened(powerpoint.tables())
    before = etree.tostring(frame(deck))

    edited(deck, cells={"A3": "r2c0"})

    assert etree.tostring(frame(deck)) == before


def test_new_rows_look_like_the_one_that_they_push_down() -> None:
    deck = saying(PLAIN)
    applied(deck, EditNode(node_id=f"{table_of(deck)}.r2.c1", content="**d**"))

    edited(deck, insertRows={"at": 2, "count": 3, "texts": [["x", "y\nz"], ["", "", "w"]]})

    assert said(deck) == [PLAIN[0], ["x", "y\nz", ""], ["", "", "w"], ["", "", ""], *PLAIN[1:]]
    table = next(each.table for each in reopened(written(deck)).slides[3].shapes if each.has_table)
    assert table.cell(1, 0).text_frame.paragraphs[0].runs[0].font.bold
    assert next(each.get("b") for each in element(deck).findall(f"{A}tr")[3].iter(f"{A}endParaRPr")) == "1"
    assert len({row.height for row in table.rows}) == 1


def test_more_texts_than_are_counted_are_more_rows_and_columns() -> None:
    deck = saying(PLAIN)

    edited(deck, insertRows={"at": 4, "texts": [["1"], ["2"]]}, insertColumns={"at": "A", "texts": [["x"], ["", "y"]]})

    assert said(deck) == [
        ["x", "", "a", "b", "c"], ["", "y", "d", "e", "f"], ["", "", "g", "h", "i"], ["", "", "1", "", ""],
        ["", "", "2", "", ""],
    ]  # fmt: skip


def test_a_row_before_the_header_looks_like_the_first_one_below_it() -> None:
    deck = opened(powerpoint.plain())
    applied(deck, InsertTable(header=["Name", "Age"], rows=[["x", 1]]))
    applied(deck, EditNode(node_id=f"{table_of(deck)}.r1.c1", content="*Name*"))

    edited(deck, insertRows={"at": 1, "texts": [["new"]]})

    (run,) = grid(deck).lines[0][0].iter(f"{A}r")
    assert (run.findtext(f"{A}t"), run.find(f"{A}rPr")) == ("new", None)


def test_the_table_stays_as_wide_as_it_is_when_columns_come() -> None:
    deck = saying(PLAIN)
    before = int(frame(deck).find(f"{P}xfrm/{A}ext").get("cx"))

    edited(deck, insertColumns={"at": "B", "texts": [["x", "y"]]})
    edited(deck, insertColumns={"at": "E", "count": 2})

    assert said(deck)[:2] == [["a", "x", "b", "c", "", ""], ["d", "y", "e", "f", "", ""]]
    assert abs(int(frame(deck).find(f"{P}xfrm/{A}ext").get("cx")) - before) < 9


def test_names_are_those_of_the_table_as_it_was_read() -> None:
    deck = saying(PLAIN)

    edited(
        deck,
        cells={"C3": "I"},
        deleteRows={"at": 1},
        insertRows={"at": 3, "texts": [["x"]]},
        deleteColumns={"at": "B"},
        insertColumns={"at": "B", "texts": [["y"]]},
    )

    assert said(deck) == [["d", "y", "f"], ["x", "", ""], ["g", "", "I"]]


def test_merged_cells_grow_and_shrink_with_rows_and_columns() -> None:
    deck = opened(powerpoint.tables())
    assert areas(deck) == ["A1:B1", "C2:C3"]

    edited(deck, insertRows={"at": 3, "texts": [["x", "y"]]}, insertColumns={"at": "B"})
    assert areas(deck) == ["A1:C1", "D2:D4"]
    assert said(deck)[2] == ["x", "", "y", ""]

    edited(deck, deleteRows={"at": 2}, deleteColumns={"at": "A"})
    assert areas(deck) == ["A1:B1", "C2:C3"]
    assert [line[0] for line in said(deck)] == ["r0c0\nr0c1", "", ""]
    assert said(deck)[1][2] == "r1c2\nr2c2"

    edited(deck, deleteRows={"at": 2}, deleteColumns={"at": "B"})
    assert areas(deck) == []
    assert said(deck) == [["r0c0\nr0c1", "r0c2"], ["", "r1c2\nr2c2"]]


def test_a_new_row_is_merged_as_the_one_that_it_looks_like() -> None:
    deck = opened(powerpoint.tables())

    edited(deck, insertRows={"at": 2, "count": 1, "texts": [["x", "y"]]}, headerRow=False)
    edited(deck, insertRows={"at": 1, "count": 1, "texts": [["left", "right"]]})

    assert areas(deck) == ["A1:B1", "A2:B2", "C4:C5"]
    assert said(deck)[0] == ["left", "", "right"]
    with pytest.raises(InvalidEditError, match="a new row has 2 cells there, and 3 texts are given"):
        edited(deck, insertRows={"at": 1, "texts": [["a", "b", "c"]]})


def test_cells_become_one_that_says_what_all_said() -> None:
    deck = saying([["a", "", "c"], ["d", "e", "f"], ["", "", ""]])

    edited(deck, merge=["A1:B2", "B3:C3"])

    assert areas(deck) == ["A1:B2", "B3:C3"]
    assert said(deck) == [["a\nd\ne", "", "c"], ["", "", "f"], ["", "", ""]]
    cells = reopened(written(deck)).slides[3].shapes[-1].table
    assert (cells.cell(0, 0).span_height, cells.cell(0, 0).span_width, cells.cell(1, 1).is_spanned) == (2, 2, True)


def test_merged_cells_are_taken_apart_and_merged_with_others() -> None:
    deck = opened(powerpoint.tables())

    edited(deck, split=["C2", "A1"])
    assert areas(deck) == []

    edited(deck, merge=["B1:C3"])
    edited(deck, merge=["A1:C3"])
    assert areas(deck) == ["A1:C3"]
    assert said(deck)[0][0].split("\n")[:2] == ["r0c0", "r0c1"]


def test_a_table_takes_a_style_by_its_name_and_a_header() -> None:
    deck = opened(powerpoint.tables())

    edited(deck, style="medium style 2 - accent 3", headerRow=False)

    properties = element(deck).find(f"{A}tblPr")
    assert properties.findtext(f"{A}tableStyleId") == "{F5AB1C69-6EDB-4FF4-983F-18BD219EF322}"
    assert properties.get("firstRow") == "0"
    with pytest.raises(InvalidEditError, match="there is no table style 'Fancy'; there are 'No Style, No Grid', "):
        edited(deck, style="Fancy")


def test_links_in_rows_and_columns_that_go_are_told_and_lead_nowhere_any_more() -> None:
    deck = saying(PLAIN)
    for name in ("r2.c1", "r3.c3"):
        applied(deck, EditNode(node_id=f"{table_of(deck)}.{name}", content=f"[there](https://example.org/{name})"))

    result = edited(deck, deleteRows={"at": 2}, deleteColumns={"at": "C"})

    assert [each["code"] for each in result["warnings"]] == ["lost", "lost"]
    part = next(name for name in parts(written(deck)) if name.endswith("slides/slide4.xml"))
    assert [*Relationships(deck.package, part).of_type("hyperlink")] == []


def test_a_link_in_a_cell_that_says_something_else_is_refused_unless_that_is_meant() -> None:
    deck = saying(PLAIN)
    applied(deck, EditNode(node_id=f"{table_of(deck)}.r2.c1", content="[there](https://example.org/)"))
    written(deck)

    with pytest.raises(InvalidEditError, match=r"link 'https://example\.org/'"):
        edited(deck, cells={"A2": "x"})
    deck.package.rollback()
    assert edited(deck, cells={"A2": "x"}, discard=True)["warnings"][0]["code"] == "lost"


def test_new_rows_and_columns_have_none_of_the_numbers_by_which_powerpoint_tells_them_apart() -> None:
    deck = saying(PLAIN)
    for number, each in enumerate(grid(deck).table.iter(f"{A}gridCol", f"{A}tr"), 1):
        extension = etree.SubElement(etree.SubElement(each, f"{A}extLst"), f"{A}ext", uri="{x}")
        etree.SubElement(extension, f"{EXTENSIONS}rowId", val=str(number))

    edited(deck, insertRows={"at": 2, "count": 2}, insertColumns={"at": "A"})

    numbers = [each.get("val") for each in grid(deck).table.iter(f"{EXTENSIONS}rowId")]
    assert numbers == ["1", "2", "3", "4", "5", "6"]


def test_rows_that_run_off_the_slide_are_told() -> None:
    result = edited(opened(powerpoint.tables()), insertRows={"at": 4, "count": 20})

    assert [(each["code"], each["nodeId"]) for each in result["warnings"]] == [("overflow", "slide-256")]


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"cells": {"B1": "x"}}, "B1 is covered by the merged cell A1:B1: name its first cell, or split it"),
        ({"cells": {"D1": "x"}}, "there is no cell D1: the table has 3 rows and 3 columns, A1 to C3"),
        ({"split": ["C3"]}, "C3 is covered by the merged cell C2:C3: name its first cell"),
        ({"split": ["A2"]}, "A2 is no merged cell: there is nothing to split"),
        ({"merge": ["A1:B1"]}, "A1:B1 is one cell already"),
        ({"merge": ["A2:A2"]}, "is one cell already"),
        ({"merge": ["B1:C1"]}, "B1:C1 holds only part of the merged cell A1:B1"),
        ({"deleteRows": {"at": 1, "count": 3}}, "delete it with delete_node"),
        ({"insertRows": {"at": 5}}, "nothing can come before row 5"),
        ({"insertRows": {"at": 2, "count": 1000}}, "would have 1003 rows; a slide takes 1000"),
        ({"insertColumns": {"at": "A", "count": 73}}, "would have 76 columns; a slide takes 75"),
        ({"insertColumns": {"at": "A", "texts": [["1", "2", "3", "4"]]}}, "a new column has 3 cells, and 4 texts"),
        ({"insertColumns": {"at": "B", "texts": [["1"]]}}, "the merged cell A1:B1 reaches over column B"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(payload: dict[str, Any], said: str) -> None:
    deck = opened(powerpoint.tables())
    before = deck.package.write().content()

    with pytest.raises(InvalidEditError) as refused:
        applied(deck, EditTable.model_validate({"tableId": table_of(deck), **payload}))

    deck.package.rollback()
    assert said in str(refused.value)
    assert deck.package.write().content() == before


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("slide-256", "is a slide; give the id of a table"),
        ("slide-256.3", "is a text; give the id of a table"),
        ("slide-256.4.r2", "is a row; give the id of a table, such as 'slide-256.4' around it"),
        ("slide-256.9", "there is no node 'slide-256.9'"),
    ],
)
def test_what_is_no_table_is_refused(node: str, said: str) -> None:
    with pytest.raises(InvalidEditError) as refused:
        applied(opened(powerpoint.tables()), EditTable(table_id=node, header_row=True))

    assert said in str(refused.value)


@pytest.mark.parametrize("broken", ["hMerge", "gridSpan", "row"])
def test_a_table_that_contradicts_itself_is_refused(broken: str) -> None:
    deck = saying(PLAIN)
    lines = grid(deck).lines
    if broken == "row":
        grid(deck).rows[1].remove(lines[1][2])
    else:
        lines[1][1].set(broken, "1" if broken == "hMerge" else "2")

    with pytest.raises(InvalidEditError, match="edit_slide and edit_page write the table anew"):
        applied(deck, EditTable.model_validate({"tableId": table_of(deck), "deleteRows": {"at": 1}}))


@settings(max_examples=30)
@given(data=st.data())
def test_whatever_is_asked_for_leaves_a_grid_and_what_is_not_named(data: st.DataObject) -> None:
    deck = opened(powerpoint.tables())
    kept = {text for line in said(deck) for text in line if text}
    for _ in range(data.draw(st.integers(1, 3))):
        rows, columns = len(grid(deck).rows), grid(deck).columns
        top, left = data.draw(st.integers(1, rows)), data.draw(st.integers(1, columns))
        bottom, right = data.draw(st.integers(top, rows)), data.draw(st.integers(left, columns))
        name, end = f"{chr(64 + left)}{top}", f"{chr(64 + right)}{bottom}"
        change: dict[str, Any] = data.draw(
            st.sampled_from(
                [
                    {"merge": [f"{name}:{end}"]},
                    {"split": [name]},
                    {"insertRows": {"at": top, "count": bottom - top + 1}},
                    {"insertColumns": {"at": chr(64 + left), "count": right - left + 1}},
                    {"deleteRows": {"at": top}, "insertRows": {"at": bottom}},
                    {"deleteColumns": {"at": chr(64 + left)}, "insertColumns": {"at": chr(64 + right)}},
                ]
            )
        )
        before = {line for row in said(deck) for cell in row for line in cell.split("\n")}
        try:
            edited(deck, **change)
        except InvalidEditError:
            deck.package.rollback()
            continue
        after = {line for row in said(deck) for cell in row for line in cell.split("\n")}
        if "merge" in change or "split" in change or len(change) == 1:
            assert {*filter(None, after)} == {*filter(None, before)}
        assert after - {""} <= {line for text in kept for line in text.split("\n")}
