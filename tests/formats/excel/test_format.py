"""The edit `format` in workbooks: what is named changes wherever it is named, and nothing else does."""

from typing import Any

import pytest
from pydantic import ValidationError

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Edit
from officeplane.edits.format import ApplyFormat
from officeplane.edits.format_fields import Border, Spacing
from officeplane.edits.set_cells import SetCells
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.excel.looks import painter
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.reading.showing import NodeWanted, node
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, assert_sound, differing, occasion, opened, part, parts, reopened

SHEET_1 = "xl/worksheets/sheet1.xml"


def edited(data: bytes, *edits: Edit) -> tuple[list[Any], bytes, Workbook]:
    told, after = applied(data, *edits)
    assert_sound(after)
    return told, after, opened(after)


def looks(book: Workbook, range: str) -> dict[str, Any]:
    return {
        item["cell"]: {name: said for name, said in item.items() if name != "cell"}
        for item in book.cells(CellsWanted(range=range, show=("formats",))).items
    }


def form(book: Workbook, node_id: str) -> dict[str, Any]:
    found: dict[str, Any] = node(book.reader(), NodeWanted(node_id, form=True)).node["format"]
    return found


def test_a_range_gets_a_format_also_where_nothing_is() -> None:
    _, after, book = edited(excel.hard(), ApplyFormat(range="Data!C4:D5", bold=True, fill="#ddebf7"))

    changed = {"look": {"bold": True, "fill": "DDEBF7"}}
    assert looks(book, "Data!C4:D6") == dict.fromkeys(("C4", "D4", "C5", "D5"), changed)
    assert differing(excel.hard(), after) == {SHEET_1, "xl/styles.xml"}


def test_what_is_not_named_stays_in_each_cell() -> None:
    _, after, book = edited(excel.hard(), ApplyFormat(range="Data!A2:B8", italic=True))

    assert looks(book, "Data!B2") == {"B2": {"format": "#,##0.00", "look": {"italic": True}}}
    assert looks(book, "Data!A8:C8") == {
        cell: {"format": "m/d/yyyy", "look": {"italic": True}} for cell in ("A8", "B8")
    }
    assert len(part(after, "xl/styles.xml").find("{*}cellXfs")) == 4 + 3


def test_a_cell_that_is_made_in_a_row_or_column_with_a_format_shows_that_with_the_change() -> None:
    _, _, book = edited(excel.hard(), ApplyFormat(range="sheet-1!G7:G8", bold=True))

    assert looks(book, "Data!G7:G8") == {
        "G7": {"format": "#,##0.00", "look": {"bold": True}}, "G8": {"format": "m/d/yyyy", "look": {"bold": True}},
    }  # fmt: skip


def test_whole_columns_are_changed_without_a_cell_for_each_row() -> None:
    data = excel.hard()

    _, after, book = edited(data, ApplyFormat(range="Data!F:H", color="C00000", width=60))

    columns = [dict(each.attrib) for each in part(after, SHEET_1).find("{*}cols")]
    assert [(each["min"], each["max"], each["width"]) for each in columns] == [
        ("1", "1", "20"), ("6", "6", "11.42578125"), ("7", "7", "11.42578125"), ("8", "8", "11.42578125"),
    ]  # fmt: skip
    assert len({each.get("style") for each in columns}) == 3
    # Row 8 has a format of its own, which a column's does not show through: its cells are made.
    assert {cell: look.get("format") for cell, look in looks(book, "Data!F:H").items()} == {
        "F8": None, "G8": "m/d/yyyy", "H8": "m/d/yyyy", "H20": None,
    }  # fmt: skip
    assert form(book, "Data!F:H")["color"] == "C00000"
    assert form(book, "Data!F:H")["width"] == 60
    sizes = reopened(after)["Data"].column_dimensions
    assert sizes["A"].width == 20


def test_whole_rows_are_changed_without_a_cell_for_each_column() -> None:
    _, after, book = edited(excel.hard(), ApplyFormat(range="Data!6:8", bold=True, height=33))

    rows = {each.get("r"): each for each in part(after, SHEET_1).iter("{*}row")}
    assert [rows[number].get("customFormat") for number in ("6", "7", "8")] == ["1", "1", "1"]
    assert {rows[number].get("ht") for number in ("6", "7", "8")} == {"33"}
    # Column G has a format of its own, which has to show in the new rows, too.
    assert [cell.get("r") for cell in rows["6"]] == ["G6"]
    assert looks(book, "Data!G6:G7")["G6"] == {"format": "#,##0.00", "look": {"bold": True}}
    assert form(book, "Data!6:8")["bold"] is True
    assert form(book, "Data!6:8")["height"] == 33


def test_a_sheet_is_all_its_columns_and_its_rows_with_a_format() -> None:
    _, after, book = edited(excel.hard(), ApplyFormat(node_id="sheet-1", font="Georgia"))

    assert form(book, "sheet-1")["font"] == "Georgia"
    assert form(book, "Data!ZZ900")["font"] == "Georgia"
    assert form(book, "Data!Z8")["font"] == "Georgia"
    assert len(part(after, SHEET_1).findall(".//{*}c")) == len(part(excel.hard(), SHEET_1).findall(".//{*}c"))


@pytest.mark.parametrize(
    ("node_id", "cells"),
    [("table-1", "A1:C5"), ("range-9", "A1"), ("name-Amounts", "B2:B5"), ("Data!B2", "B2"), ("name-Plan", "A1")],
)
def test_nodes_that_have_cells_are_formatted(node_id: str, cells: str) -> None:
    (told,), _, book = edited(excel.hard(), ApplyFormat(node_id=node_id, underline=True))

    assert told["id"] == node_id
    assert told["ids"][0].rpartition("!")[2] == cells
    assert form(book, told["ids"][0])["underline"] is True


def test_every_cell_that_holds_a_text_is_formatted_or_the_nth() -> None:
    (told,), _, book = edited(excel.hard(), ApplyFormat(find="North", strike=True))
    (second,), _, other = edited(excel.hard(), ApplyFormat(find="North", nth=2, strike=True))

    assert told["ids"][:2] == ["Data!A2", "Data!A4"]
    assert all(form(book, cell)["strike"] for cell in told["ids"])
    assert second["ids"] == ["Data!A4"]
    assert "strike" not in form(other, "Data!A2")


def test_letters_of_a_rich_text_follow_and_other_cells_keep_theirs() -> None:
    data = excel.hard()
    strings = part(data, "xl/sharedStrings.xml")
    rich = next(at for at, item in enumerate(strings) if item.find("{*}r") is not None)

    _, after, _ = edited(data, ApplyFormat(range="Data!A4", bold=False, font="Arial"))
    _, again, _ = edited(after, ApplyFormat(range="Data!A4", bold=False, font="Arial"))

    now = part(after, "xl/sharedStrings.xml")
    assert len(now) == len(strings) + 1
    assert parts(again)["xl/sharedStrings.xml"] == parts(after)["xl/sharedStrings.xml"]
    assert [item.xpath("string()") for item in (now[rich], now[-1])] == ["East of North"] * 2
    assert now[rich].find(".//{*}b") is not None
    assert now[-1].find(".//{*}b") is None
    assert [each.get("val") for each in now[-1].iter("{*}rFont")] == ["Arial", "Arial"]


def test_a_merged_cell_is_formatted_as_a_whole_and_what_it_covers_is_refused() -> None:
    (told,), _, book = edited(excel.hard(), ApplyFormat(range="Data!A10", border="thin"))

    assert all(set(looks(book, "Data!A10:C11")[cell]["look"]["border"]) == {"left", "right", "top", "bottom"}
               for cell in ("A10", "C10", "B11"))  # fmt: skip
    with pytest.raises(InvalidEditError, match=r"covered by the merged cells A10:C11: format A10"):
        applied(excel.hard(), ApplyFormat(range="Data!B10", bold=True))
    assert told["id"] == "Data!A10"


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        (["outline"], {"A1": {"left", "top"}, "B1": {"top"}, "C3": {"right", "bottom"}, "B2": set[str]()}),
        (["inside"], {"A1": {"right", "bottom"}, "B2": {"left", "right", "top", "bottom"}, "C3": {"left", "top"}}),
        (["bottom"], {"A1": set[str](), "A3": {"bottom"}, "C3": {"bottom"}}),
        (["outline", "inside"], {"A1": {"left", "right", "top", "bottom"}}),
    ],
)
def test_lines_are_drawn_where_they_are_named(sides: Any, expected: dict[str, set[str]]) -> None:
    _, _, book = edited(
        excel.plain(), ApplyFormat(range="A1:C3", border=Border(style="medium", sides=sides, color="00B050"))
    )

    found = {cell: look["look"]["border"] for cell, look in looks(book, "A1:C3").items() if "look" in look}
    assert {cell: set(found.get(cell, {})) for cell in expected} == expected
    assert {tuple(line.items()) for lines in found.values() for line in lines.values()} == {
        (("style", "medium"), ("color", "00B050"))
    }


def test_lines_are_taken_away_again() -> None:
    _, _, book = edited(
        excel.plain(), ApplyFormat(range="A1:B2", border="thin"), ApplyFormat(range="A1:B2", border="none")
    )

    assert all("look" not in look for look in looks(book, "A1:B2").values())


def test_a_number_format_makes_numbers_dates_and_tells_of_texts() -> None:
    (first, second), _, book = edited(
        excel.hard(),
        ApplyFormat(range="Data!B2:B3", number_format="date"),
        ApplyFormat(range="Data!A2:A4", number_format="yyyy-mm-dd"),
    )

    assert "warnings" not in first
    assert [each["code"] for each in second["warnings"]] == ["not_a_number"]
    assert looks(book, "Data!B2")["B2"]["format"] == "m/d/yyyy"
    assert looks(book, "Data!A2")["A2"]["format"] == "yyyy-mm-dd"


def test_a_row_whose_letters_grow_is_measured_anew_unless_its_height_was_set() -> None:
    data = excel.small("<row r='1' ht='15'><c r='A1'><v>1</v></c></row>"
                       "<row r='2' ht='15' customHeight='1'><c r='A2'><v>1</v></c></row>")  # fmt: skip

    _, after, _ = edited(data, ApplyFormat(range="A1:A2", size=30))

    assert [row.get("ht") for row in part(after, SHEET_1).iter("{*}row")] == [None, "15"]


def test_a_format_that_is_so_already_changes_no_byte() -> None:
    data = excel.hard()

    _, after = applied(data, ApplyFormat(range="Data!A1:D3", bold=False), ApplyFormat(range="Data!B:B", wrap=False))

    assert differing(data, after) == set()


def test_a_range_with_too_many_empty_places_is_refused_with_what_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painter, "MADE_MAX", 10)
    data = excel.hard()

    for place in ("Data!J1:K9", "Data!100:120", "Data!B1:B1000000"):
        with pytest.raises(InvalidEditError, match="hold nothing, and 10 at most"):
            applied(data, ApplyFormat(range=place, bold=True))
    edited(data, ApplyFormat(range="Data!J1:J9", bold=True), ApplyFormat(range="Data!B:B", bold=True))


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"range": "Nowhere!A1", "bold": True}, "no sheet 'Nowhere'"),
        ({"range": "A1", "bold": True}, "names no sheet"),
        ({"range": "Data!A0", "bold": True}, "no range 'A0'"),
        ({"range": "Data!A1:B", "bold": True}, "no range 'A1:B'"),
        ({"range": "Chart1!A1", "bold": True}, "has no cells"),
        ({"node_id": "chart-chart1", "bold": True}, "no cells of the node"),
        ({"node_id": "sheet-99", "bold": True}, "no cells of the node"),
        ({"node_id": "name-Nothing", "bold": True}, "no name 'Nothing'"),
        ({"find": "not there", "bold": True}, "stands in no cell"),
        ({"find": "North", "nth": 99, "bold": True}, "no 99th time"),
        ({"range": "Data!A1", "highlight": "FFFF00", "heading_level": 1}, "no highlight, headingLevel; there"),
        ({"range": "Data!A1", "list_kind": "bullet"}, "no list; there"),
        ({"range": "Data!A1", "spacing": Spacing(before=3)}, "no spacing; there"),
        ({"range": "Data!A1", "style": "Lovely"}, "no cell style 'Lovely'; the styles are 'Normal'"),
        ({"range": "Data!A1", "number_format": "0 kg"}, "no code that Excel reads"),
        ({"range": "Data!A1", "size": 410}, "more than the 409"),
        ({"range": "Data!A1", "font": "x" * 32}, "longer than 31"),
        ({"range": "Data!A1", "indent": 7, "align": "center"}, "have no indent"),
        ({"range": "Data!A:B", "height": 30}, "height is that of rows"),
        ({"range": "Data!2:3", "width": 30}, "width is that of columns"),
        ({"range": "Data!2:3", "height": 410}, "more than the 409 points"),
        ({"range": "Data!B:B", "width": 1500}, "more than the 1338"),
        ({"range": "Data!B:B", "border": Border(style="thin", sides=["top"])}, "no side of B1:B1048576"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(payload: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidEditError, match=reason):
        applied(excel.hard(), ApplyFormat(**payload))


@pytest.mark.parametrize(
    "payload",
    [
        {"bold": True},
        {"range": "Data!A1"},
        {"range": "Data!A1", "bold": None},
        {"range": "Data!A1", "find": "x", "bold": True},
        {"range": "Data!A1", "nth": 1, "bold": True},
        {"range": "Data!A1", "color": "red"},
        {"range": "Data!A1", "border": {"style": "thin", "sides": []}},
        {"range": "Data!A1", "spacing": {"line": 1.5}},
        {"range": "Data!A1", "spacing": {}},
    ],
)
def test_a_payload_says_what_and_how(payload: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ApplyFormat.model_validate(payload)


def test_the_example_of_the_schema_works() -> None:
    (example,) = ApplyFormat.model_json_schema()["examples"]

    _, _, book = edited(excel.plain(), ApplyFormat.model_validate(example))

    assert looks(book, "Sheet1!F1")["F1"]["look"] == {
        "bold": True, "fill": "DDEBF7", "border": {"bottom": {"style": "thin"}},
    }  # fmt: skip


def test_every_field_is_described() -> None:
    schema = ApplyFormat.model_json_schema()

    models = [schema, *schema["$defs"].values()]
    assert all("description" in field for model in models for field in model["properties"].values())
    assert "list" in schema["properties"]


@pytest.mark.parametrize(
    ("edit", "others"),
    [
        (ApplyFormat(range="Data!A1:C9", bold=True), "B5"),
        (ApplyFormat(range="Data!B:B", bold=True), "B5"),
        (ApplyFormat(node_id="name-Amounts", bold=True), "B5"),
        (ApplyFormat(node_id="table-1", bold=True), "A1"),
        (ApplyFormat(find="South", bold=True), "A3"),
    ],
)
def test_what_somebody_else_changes_where_the_format_goes_is_a_conflict(edit: ApplyFormat, others: str) -> None:
    book = opened(excel.hard())
    before = {target: book.fingerprint(target) for target in edit.targets(book)}

    SetCells(sheet="Last", cells={"B5": "elsewhere"}).apply(book, occasion())
    elsewhere = {target: book.fingerprint(target) for target in before}
    SetCells(sheet="Data", cells={others: "other"}).apply(book, occasion())

    assert None not in before.values()
    assert elsewhere == before
    assert {target: book.fingerprint(target) for target in before} != before


def test_a_range_of_the_only_sheet_needs_no_name_and_is_watched_as_well() -> None:
    book = opened(excel.plain())
    edit = ApplyFormat(range="A1:B2", bold=True)
    (target,) = edit.targets(book)
    before = book.fingerprint(target)

    told = edit.apply(book, occasion())
    formatted = book.fingerprint(target)
    SetCells(sheet="Sheet1", cells={"B1": 2}).apply(book, occasion())

    assert told["id"] == "Sheet1!A1:B2"
    assert before == formatted != book.fingerprint(target)
