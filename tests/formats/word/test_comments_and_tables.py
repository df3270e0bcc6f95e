import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_comment import AddComment
from officeplane.edits.insert_table import InsertTable
from officeplane.edits.write_page import WritePage
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, assert_sound, node, opened, reopened, shape, xml


def test_a_comment_stands_at_the_very_words() -> None:
    word = opened(documents.split_runs())

    told = applied(word, AddComment(find="llo w", text="why?\nreally"))

    (comment,) = reopened(word).comments
    assert (comment.author, comment.initials, comment.text) == ("Ada Lovelace", "AL", "why?\nreally")
    assert told["id"] == f"comment-{comment.comment_id}"
    runs = reopened(word).paragraphs[0].runs
    assert [(run.text, run.bold, run.italic) for run in runs[:5]] == [
        ("He", True, None), ("l", True, None), ("lo w", None, True), ("", None, None), ("o", None, True),
    ]  # fmt: skip
    between = xml(word).partition("commentRangeStart")[2].partition("<w:commentRangeEnd")[0]
    assert [piece.partition("</w:t>")[0].rpartition(">")[2] for piece in between.split("<w:t")[1:]] == ["l", "lo w"]


def test_a_comment_inside_a_link_leaves_the_link_whole() -> None:
    word = opened(documents.fields_and_links())

    applied(word, AddComment(find="sit", text="where?"), AddComment(find="+", text="plus?"))

    assert xml(word).count("<w:hyperlink") == 2
    inside = xml(word).partition("<w:hyperlink")[2].partition("</w:hyperlink>")[0]
    assert "commentRangeStart" in inside
    assert "commentReference" not in inside
    assert_sound(word)


def test_a_comment_on_words_in_a_text_box_stands_at_the_paragraph_with_the_box() -> None:
    word = opened(documents.text_boxes())

    applied(word, AddComment(find="in the box", text="which?"))

    boxes = [piece.partition("</w:txbxContent>")[0] for piece in xml(word).split("<w:txbxContent>")[1:]]
    assert not any("comment" in box for box in boxes)
    assert_sound(word)


def test_comments_have_ids_of_their_own_and_are_shown_where_they_stand() -> None:
    word = opened(documents.comments())

    told = applied(word, AddComment(node_id=node(word, "Second").id, text="third"))

    assert told["id"] not in {"comment-0", "comment-4"}
    assert ("comment", "third") in shape(word)[1][2]  # type: ignore[index]
    assert_sound(word)


def test_comments_need_a_place_in_the_text() -> None:
    word = opened(documents.headers_and_footers())

    with pytest.raises(InvalidEditError, match="does not stand in the text"):
        applied(word, AddComment(find="ACME first", text="x"))
    with pytest.raises(InvalidEditError, match="beside the text"):
        applied(word, AddComment(node_id="header2", text="x"))
    with pytest.raises(InvalidEditError, match="no node"):
        applied(word, AddComment(node_id="nowhere", text="x"))


def test_a_table_has_a_place_for_every_cell_and_a_repeated_header() -> None:
    word = opened(documents.chapters())

    told = applied(word, InsertTable(rows=[["a"], ["b", 2, 3.5]], header=["H"], style="fancy grid"))

    (table,) = reopened(word).tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["H", "", ""],
        ["a", "", ""],
        ["b", "2", "3.5"],
    ]
    assert table.style is not None
    assert table.style.name == "Fancy Grid"
    assert table.rows[0].cells[0].paragraphs[0].runs[0].bold
    assert "<w:tblHeader/>" in xml(word)
    assert node(word, "H\t\t\na\t\t\nb\t2\t3.5").id == told["id"]


def test_tables_that_follow_each_other_stay_two() -> None:
    word = opened(documents.chapters())
    table = InsertTable(rows=[["a"]], section_id=node(word, "Alpha").id)

    applied(word, table, table, WritePage(content="| x |\n|---|\n\n| y |\n|---|\n"))

    assert len(reopened(word).tables) == 4
    assert_sound(word)


def test_tables_word_cannot_have_are_refused() -> None:
    word = opened(documents.chapters())

    with pytest.raises(InvalidEditError, match="has no table style 'Nowhere'; it has 'Normal Table', 'Fancy Grid'"):
        applied(word, InsertTable(rows=[["a"]], style="Nowhere"))
    with pytest.raises(InvalidEditError, match="64 columns"):
        applied(word, InsertTable(rows=[["a"] * 64]))
    with pytest.raises(InvalidEditError, match="no cells"):
        applied(word, InsertTable(rows=[[]]))
