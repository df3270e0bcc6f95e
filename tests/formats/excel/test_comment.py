"""Comments of workbooks: threads and the notes that older programs show, made and taken away together."""

import pytest
from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.edits.comment import Comment, CommentReply, CommentState, GoneComment, NewComment
from officeplane.edits.edit_grid import EditGrid, Rows
from officeplane.edits.set_cells import SetCells
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.reading.listing import ListWanted, listed
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, assert_sound, differing, opened, reopened

FIRST = "sheet-1.comment-000000000010"
ANSWER = "sheet-1.comment-000000000011"
NOTE = "sheet-1.comment-C3"


def add(cell: str, text: str) -> Comment:
    return Comment(add=NewComment(node_id=cell, text=text))


def reply(comment_id: str, text: str) -> Comment:
    return Comment(reply=CommentReply(comment_id=comment_id, text=text))


def resolve(comment_id: str, *, resolved: bool = True) -> Comment:
    return Comment(resolve=CommentState(comment_id=comment_id, resolved=resolved))


def delete(comment_id: str) -> Comment:
    return Comment(delete=GoneComment(comment_id=comment_id))


def comments(data: bytes) -> dict[str, dict[str, str]]:
    return {item["id"]: item for item in listed(opened(data).reader(), ListWanted("comments")).items}


def note(data: bytes, sheet: str, cell: str) -> str | None:
    """Return what an older program shows at a cell."""
    found = reopened(data)[sheet][cell].comment
    return None if found is None else found.text


def boxes(book: Workbook, part: str = "xl/drawings/vmlDrawing1.vml") -> list[tuple[str, str]]:
    """Return row and column, from 0, of each box of a drawing."""
    root = book.package.tree(part)
    return [(data.findtext("{*}Row") or "", data.findtext("{*}Column") or "") for data in root.iter("{*}ClientData")]


def test_a_thread_is_told_once_and_not_as_a_note_besides() -> None:
    told = comments(excel.threads())

    assert [*told] == [FIRST, ANSWER, NOTE]
    assert told[FIRST] == {
        "id": FIRST, "kind": "comment", "text": "Seven?", "cell": "B2", "author": "Ada",
        "at": "2026-01-02T03:04:05.67", "state": "resolved", "parent": "sheet-1",
    }  # fmt: skip
    assert (told[ANSWER]["author"], told[ANSWER]["inReplyTo"], told[ANSWER]["cell"]) == ("Bo", FIRST, "B2")
    assert (told[NOTE]["author"], "state" in told[NOTE]) == ("Cy", False)


def test_a_new_comment_brings_a_note_and_a_box_for_older_programs() -> None:
    data = excel.plain()

    (told,), after = applied(data, add("Sheet1!B4", "Why <7> &\nhow?"))

    assert differing(data, after) == {
        "[Content_Types].xml", "xl/_rels/workbook.xml.rels", "xl/worksheets/sheet1.xml",
        "xl/worksheets/_rels/sheet1.xml.rels", "xl/comments1.xml", "xl/threadedComments/threadedComment1.xml",
        "xl/drawings/vmlDrawing1.vml", "xl/persons/person.xml",
    }  # fmt: skip
    comment = comments(after)[told["id"]]
    assert (comment["text"], comment["cell"], comment["author"]) == ("Why <7> &\nhow?", "B4", "Ada")
    assert (note(after, "Sheet1", "B4") or "").endswith("Comment:\n    Why <7> &\nhow?")
    assert boxes(opened(after)) == [("3", "1")]
    assert_sound(after)


def test_answers_stand_in_the_note_and_go_with_its_thread() -> None:
    (first,), data = applied(excel.plain(), add("Sheet1!B4", "One"))

    (told,), after = applied(data, reply(first["id"], "Two"))

    assert comments(after)[told["id"]]["inReplyTo"] == first["id"]
    assert (note(after, "Sheet1", "B4") or "").endswith("Comment:\n    One\nReply:\n    Two")
    _, without = applied(after, delete(told["id"]))
    assert (note(without, "Sheet1", "B4") or "").endswith("Comment:\n    One")
    (gone,), empty = applied(after, delete(first["id"]))
    assert gone["warnings"] == [{"code": "lost", "nodeId": told["id"], "detail": "reply 'Two'"}]
    assert differing(excel.plain(), empty) == {
        "[Content_Types].xml", "xl/_rels/workbook.xml.rels", "xl/persons/person.xml", "xl/worksheets/sheet1.xml",
        "xl/worksheets/_rels/sheet1.xml.rels",
    }  # fmt: skip
    assert b"legacyDrawing" not in opened(empty).package.content("xl/worksheets/sheet1.xml")
    assert_sound(empty)


def test_an_answer_in_a_file_of_others_stands_behind_the_thread_and_leaves_the_rest() -> None:
    data = excel.threads()

    (told,), after = applied(data, reply(ANSWER, "Still?"))

    assert [*comments(after)] == [FIRST, ANSWER, told["id"], NOTE]
    assert comments(after)[told["id"]]["inReplyTo"] == FIRST
    assert (note(after, "Plan", "B2") or "").endswith("Comment:\n    Seven?\nReply:\n    Yes.\nReply:\n    Still?")
    assert note(after, "Plan", "C3") == "A plain note"
    changed = {"xl/comments1.xml", "xl/threadedComments/threadedComment1.xml", "xl/persons/person.xml"}
    assert differing(data, after) == changed


def test_a_thread_is_opened_again_and_resolved() -> None:
    (opened_again,), after = applied(excel.threads(), resolve(ANSWER, resolved=False))

    assert opened_again == {"id": FIRST, "resolved": False}
    assert {name: one.get("state") for name, one in comments(after).items()} == {
        FIRST: "open", ANSWER: "open", NOTE: None,
    }  # fmt: skip
    _, again = applied(after, resolve(FIRST))
    assert comments(again)[ANSWER]["state"] == "resolved"
    assert differing(after, again) == {"xl/threadedComments/threadedComment1.xml"}


def test_a_note_is_deleted_as_what_it_is_and_has_no_answers() -> None:
    data = excel.threads()

    _, after = applied(data, delete(NOTE))

    assert [*comments(after)] == [FIRST, ANSWER]
    assert boxes(opened(after)) == [("1", "1")]
    assert differing(data, after) == {"xl/comments1.xml", "xl/drawings/vmlDrawing1.vml"}
    authors = etree.fromstring(opened(after).package.content("xl/comments1.xml")).findall("{*}authors/{*}author")
    assert len(authors) == 1
    for edit in (reply(NOTE, "x"), resolve(NOTE)):
        with pytest.raises(InvalidEditError, match=f"'{NOTE}' is a note, to which Excel has no answers and no state"):
            applied(data, edit)


def test_a_thread_that_goes_leaves_the_notes_beside_it() -> None:
    _, after = applied(excel.threads(), delete(FIRST))

    assert [*comments(after)] == [NOTE]
    assert note(after, "Plan", "B2") is None
    assert note(after, "Plan", "C3") == "A plain note"
    assert comments(after)[NOTE]["author"] == "Cy"
    assert boxes(opened(after)) == [("2", "2")]
    assert "xl/threadedComments/threadedComment1.xml" not in opened(after).package.names
    assert_sound(after)


def test_a_cell_has_one_thread_or_one_note() -> None:
    data = excel.threads()

    with pytest.raises(InvalidEditError, match=f"B2 of the sheet 'Plan' has a thread .*: reply to '{FIRST}'"):
        applied(data, add("Plan!B2", "x"))
    with pytest.raises(InvalidEditError, match=f"C3 of the sheet 'Plan' has a note, '{NOTE}', .* delete the note"):
        applied(data, add("Plan!C3", "x"))


def test_a_comment_is_about_one_cell_that_can_be_seen() -> None:
    merged = excel.small("<row r='1'><c r='A1'/></row>", around='<mergeCells><mergeCell ref="A1:B2"/></mergeCells>')

    with pytest.raises(InvalidEditError, match="B2 is covered by the merged cells A1:B2: comment on A1"):
        applied(merged, add("Sheet1!B2", "x"))
    with pytest.raises(InvalidEditError, match=r"'Sheet1!A1:B2' is more than a cell: .* such as A1"):
        applied(merged, add("Sheet1!A1:B2", "x"))
    with pytest.raises(InvalidEditError, match="is more than a cell"):
        applied(merged, add("sheet-1", "x"))
    with pytest.raises(InvalidEditError, match="Nowhere"):
        applied(merged, add("Nowhere!A1", "x"))


def test_threads_move_with_their_cells() -> None:
    (told,), data = applied(excel.plain(), add("Sheet1!B4", "One"))

    _, after = applied(data, EditGrid(sheet="Sheet1", insert_rows=Rows(at=2, count=3)))

    assert comments(after)[told["id"]]["cell"] == "B7"
    assert boxes(opened(after)) == [("6", "1")]
    _, empty = applied(after, delete(told["id"]))
    assert note(empty, "Sheet1", "B7") is None
    assert "xl/drawings/vmlDrawing1.vml" not in opened(empty).package.names


def test_a_thread_that_goes_with_its_row_is_told_by_what_it_says() -> None:
    (told,), _ = applied(excel.threads(), EditGrid(sheet="Plan", delete_rows=Rows(at=2)))

    lost = [one["detail"] for one in told["warnings"] if "comment" in one["detail"]]
    assert sorted(lost) == ["the comment 'Seven?'", "the comment 'Yes.'"]


def test_a_comment_keeps_the_boxes_of_other_notes_and_numbers_its_own() -> None:
    _, after = applied(excel.hard(), add("Data!D9", "One"), SetCells(sheet="Data", cells={"D9": 1}))

    shapes = [one.get("id") for one in opened(after).package.tree("xl/drawings/vmlDrawing1.vml").iter("{*}shape")]
    assert shapes == ["_x0000_s1025", "_x0000_s1026"]
    assert note(after, "Data", "B2") == "Is this {{name}} right?"
    assert_sound(after)


def test_sheets_have_blocks_of_numbers_of_their_own() -> None:
    data = excel.small("", names=("One", "Two"))

    _, after = applied(data, add("One!A1", "1"), add("Two!A1", "2"), add("Two!A3", "3"))

    package = opened(after).package
    ids = [
        one.get("id", "")
        for part in ("xl/drawings/vmlDrawing1.vml", "xl/drawings/vmlDrawing2.vml")
        for one in package.tree(part).iter("{*}shape")
    ]
    assert len(ids) == len({*ids}) == 3
    persons = etree.fromstring(package.content("xl/persons/person.xml"))
    assert [one.get("displayName") for one in persons] == ["Ada"]


def test_whom_a_service_knows_by_the_name_is_somebody_else() -> None:
    data = excel.threads()

    _, after = applied(data, reply(FIRST, "x"))

    persons = etree.fromstring(opened(after).package.content("xl/persons/person.xml"))
    assert [(one.get("displayName"), one.get("providerId")) for one in persons] == [
        ("Ada", "AD"), ("Bo", "AD"), ("Ada", "None"),
    ]  # fmt: skip


def test_threads_that_a_file_holds_wrongly_are_told_all_the_same() -> None:
    book = opened(excel.threads())
    part = "xl/threadedComments/threadedComment1.xml"
    first, answer = book.package.tree(part)
    del first.attrib["id"]
    answer.set("parentId", "{nobody}")
    del answer.attrib["personId"]
    book.package.changed(part)
    data = book.package.write().content()

    told = comments(data)

    assert [(one["text"], one.get("author"), one.get("inReplyTo")) for one in told.values()] == [
        ("Seven?", "Ada", None),
        ("Yes.", None, None),
        ("[Threaded comment] Seven? Yes.", "tc={00000000-0000-4000-8000-000000000010}", None),
        ("A plain note", "Cy", None),
    ]
    (gone,), after = applied(data, delete(ANSWER))
    assert gone == {"id": ANSWER}
    assert len(comments(after)) == 3
