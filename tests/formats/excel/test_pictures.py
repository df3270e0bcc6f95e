"""Pictures put on sheets, and others put in their place."""

from io import BytesIO
from typing import Any

import openpyxl
import pytest
from openpyxl.drawing.image import Image
from openpyxl.drawing.spreadsheet_drawing import AnchorMarker, TwoCellAnchor

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Edit
from officeplane.edits.delete_sheet import DeleteSheet
from officeplane.edits.insert_image import InsertImage
from officeplane.edits.replace_image import ReplaceImage
from officeplane.edits.set_cells import SetCells
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.reading.listing import ListWanted, listed
from tests.fixtures.documents import excel
from tests.fixtures.pictures import as_text, jpeg, png
from tests.formats.excel.books import applied, assert_sound, opened, parts, reopened

GREY = as_text(png(400, 200))
POINT = 12_700


def images(book: Workbook) -> list[dict[str, Any]]:
    return listed(book.reader(), ListWanted("images")).items


def picture(book: Workbook, node_id: str) -> bytes | None:
    reader = book.reader()
    return reader.picture(reader.tree.by_id[node_id])


def test_a_picture_begins_at_its_cell() -> None:
    (first, second), data = applied(
        excel.hard(),
        InsertImage(at="Last!B4", base64=GREY, alt="At its own size"),
        InsertImage(at="'Q1 ''Plan'''!AA100", base64=GREY, alt="As asked", width=72),
    )

    found = {item["id"]: item for item in images(opened(data))}
    assert found[first["id"]].items() >= {"cell": "B4", "width": 300, "height": 150, "alt": "At its own size"}.items()
    assert found[second["id"]].items() >= {"cell": "AA100", "width": 72, "height": 36}.items()
    assert picture(opened(data), first["id"]) == png(400, 200)
    assert len({*parts(data)} - {*parts(excel.hard())} - {name for name in parts(data) if "media" not in name}) == 1
    assert_sound(data)
    sheet: Any = reopened(data)["Last"]
    assert [(one.anchor._from.col, one.anchor._from.row, one.format) for one in sheet._images] == [(1, 3, "png")]


def test_a_picture_is_drawn_where_others_are_already_and_leaves_with_its_sheet() -> None:
    data = excel.hard()

    (made,), after = applied(data, InsertImage(at="Data!A1", base64=GREY, alt="x"))
    _, without = applied(data, InsertImage(at="Last!A1", base64=GREY, alt="x"), DeleteSheet(sheet="Last"))

    assert made["id"] in {item["id"] for item in images(opened(after))}
    assert {name for name in {*parts(after)} - {*parts(data)} if "media" not in name} == set()
    assert {*parts(without)} - {*parts(data)} == set()


def test_another_picture_keeps_its_cell_and_width() -> None:
    (made,), data = applied(excel.hard(), InsertImage(at="Last!B4", base64=GREY, alt="Old", width=80))
    node_id = made["id"]

    _, after = applied(data, ReplaceImage(node_id=node_id, base64=as_text(jpeg(50, 50)), alt="New"))
    _, wider = applied(after, ReplaceImage(node_id=node_id, base64=GREY, width=100))

    (item,) = [item for item in images(opened(after)) if item["id"] == node_id]
    assert (item["cell"], item["width"], item["height"], item["alt"]) == ("B4", 80, 80, "New")
    (item,) = [item for item in images(opened(wider)) if item["id"] == node_id]
    assert (item["width"], item["height"], item["alt"]) == (100, 50, "New")
    assert picture(opened(after), node_id) == jpeg(50, 50)
    assert len({*parts(after)} ^ {*parts(data)}) == 2
    assert opened(data).fingerprint(node_id) != opened(after).fingerprint(node_id) is not None
    assert_sound(wider)


def tied_to_two_cells() -> bytes:
    """Return a workbook with a picture over B2:C3, of whose rows one is of 30 points, and a hidden one behind it."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet["A1"] = "x"
    sheet.row_dimensions[3].height = 30
    sheet.row_dimensions[5].hidden = True
    image: Any = Image(BytesIO(png(128, 40)))
    sheet.add_image(image, "B2")
    begin, end = AnchorMarker(1, 0, 1, 0), AnchorMarker(3, 0, 3, 0)
    image.anchor = TwoCellAnchor(editAs="twoCell", _from=begin, to=end)
    held = BytesIO()
    book.save(held)
    return held.getvalue()


def end_of(data: bytes) -> tuple[int, int, int, int]:
    sheet: Any = openpyxl.load_workbook(BytesIO(data)).active
    to = sheet._images[0].anchor.to
    return to.col, to.colOff, to.row, to.rowOff


def test_a_picture_tied_to_two_cells_ends_where_its_height_does() -> None:
    data = tied_to_two_cells()
    (item,) = images(opened(data))
    square = as_text(png(50, 50))

    # Two columns of 64 pixels are 96 points; as high are rows of 15, 30, 15, none, 15 and 15 points and 6 of the next.
    _, tall = applied(data, ReplaceImage(node_id=item["id"], base64=square))
    _, narrow = applied(data, ReplaceImage(node_id=item["id"], base64=square, width=50))

    assert end_of(data) == (3, 0, 3, 0)
    assert end_of(tall) == (3, 0, 7, 6 * POINT)
    assert end_of(narrow) == (2, 2 * POINT, 3, 5 * POINT)
    assert images(opened(tall))[0]["cell"] == "B2"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (InsertImage(into="sheet-1", base64=GREY, alt="x"), "'into' says nothing in such a document"),
        (InsertImage(at="B4", base64=GREY, alt="x"), "names no sheet: give a sheet and a cell, such as 'Sheet1!B4'"),
        (InsertImage(at="Nowhere!B4", base64=GREY, alt="x"), "there is no sheet 'Nowhere'"),
        (InsertImage(at="Chart1!B4", base64=GREY, alt="x"), "has no cells"),
        (InsertImage(at="Last!B4:C5", base64=GREY, alt="x"), "there is no cell 'B4:C5'"),
        (InsertImage(at="Last!XFE1", base64=GREY, alt="x"), "there is no cell 'XFE1'"),
        (ReplaceImage(node_id="sheet-1.picture-99", base64=GREY), "there is no picture 'sheet-1.picture-99'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(edit: Edit, sentence: str) -> None:
    with pytest.raises(InvalidEditError, match=sentence):
        applied(excel.hard(), edit)


def test_whoever_changes_the_cell_is_in_conflict_with_a_picture_there() -> None:
    edit = InsertImage(at="'Last'!B4", base64=GREY, alt="x")
    data = excel.hard()
    _, after = applied(data, SetCells(sheet="Last", cells={"B4": "taken"}))
    (target,) = edit.targets(opened(data))

    assert opened(data).fingerprint(target) not in {None, opened(after).fingerprint(target)}
