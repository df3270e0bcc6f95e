"""Edits as suggestions: what is written for each, and what cannot be tracked is refused."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from officeplane.domain.document import InvalidEditError
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.duplicate_node import DuplicateNode
from officeplane.edits.edit_node import EditNode
from officeplane.edits.edit_page import EditPage
from officeplane.edits.edit_table import EditTable, NewTableColumns, NewTableRows, TableRows
from officeplane.edits.format import ApplyFormat
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.move_node import MoveNode
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.review_changes import ReviewChanges
from officeplane.edits.tracked import TrackedEdit
from officeplane.edits.write_page import WritePage
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.package import Package
from officeplane.formats.word.document import Word
from tests.fixtures.documents import excel
from tests.fixtures.documents import word as documents
from tests.formats.word.suggestions import WHO, assert_is_a_suggestion_of, changes, decided, ids, suggested
from tests.formats.word.test_review import ADA, BOB, deleted, inserted, marked, row, table
from tests.formats.word.texts import applied, assert_sound, nodes, occasion, opened, written, xml

ADA_HERSELF = 'w:author="Ada Lovelace" w:date="2026-01-02T03:04:05Z"'


def text(words: str, number: int) -> str:
    return documents.text(words, paragraph_id=f"0A00000{number}")


def tracked(data: bytes, edit: TrackedEdit) -> Word:
    word = opened(data)
    applied(word, suggested(edit))
    assert_sound(word)
    return word


def pages_beside_each_other() -> bytes:
    word = opened(documents.saved_by_word())
    for number, words in enumerate(("one", "two\n\nthree"), 7):
        WritePage(content=words, section_id="chapter-b02dbeef306d").apply(word, occasion(number))
    return written(word)


def kinds(word: Word) -> list[tuple[str, str]]:
    return [(str(one["change"]), str(one.get("text", ""))) for one in changes(word)]


def test_one_word_in_a_sentence_is_one_deletion_and_one_insertion() -> None:
    data = documents.document(text("Payment is due within 30 days.", 1))

    word = opened(data)
    result = applied(word, ReplaceText(find="30", replace="14", change_mode="tracked"))

    told = changes(word)
    assert [(one["change"], one["text"]) for one in told] == [("deletion", "30"), ("insertion", "14")]
    assert {one["author"] for one in told} == {"Ada Lovelace"}
    assert {one["at"] for one in told} == {"2024-05-01T12:00:00Z"}
    assert sorted(result["changes"]) == sorted(one["id"] for one in told)
    assert word.text() == "Payment is due within 14 days."


def test_the_changes_of_a_result_are_what_a_review_takes() -> None:
    data = documents.document(text("one two", 1) + documents.paragraph(inserted(5, "three")))
    word = opened(data)
    result = applied(word, suggested(EditNode(node_id="p-0a000001", text="one 2 more")))

    applied(word, ReviewChanges(reject=True, ids=result["changes"]))

    assert word.text() == "one two\nthree"
    assert [one["id"] for one in changes(word)] == ["change-5"]


def test_a_text_that_another_inserted_is_deleted_inside_of_that() -> None:
    data = documents.document(
        documents.paragraph(documents.run("a ") + inserted(1, "b c", BOB), paragraph_id="0A000001")
    )

    word = tracked(data, ReplaceText(find="b", replace="x"))

    assert [(one["change"], one["author"]) for one in changes(word)] == [
        ("insertion", "Bob"), ("deletion", WHO), ("insertion", WHO), ("insertion", "Bob"),
    ]  # fmt: skip
    assert decided(word, accept=True).text() == "a x c"
    rejected = decided(word, accept=False)
    assert rejected.text() == "a b c"
    assert [one["author"] for one in changes(rejected)] == ["Bob"]
    applied(word, ReviewChanges(reject=True, author="Bob"))
    assert word.text() == "a x"


def test_who_deletes_what_they_have_inserted_leaves_nothing_behind() -> None:
    data = documents.document(
        documents.paragraph(documents.run("a ") + inserted(1, "b c", ADA_HERSELF))
        + documents.paragraph(inserted(2, "gone", ADA_HERSELF), marked(f'<w:ins w:id="3" {ADA_HERSELF}/>'), "0A000002")
        + text("z", 3)
    )
    word = opened(data)

    applied(word, ReplaceText(find="b ", replace="", change_mode="tracked"))
    applied(word, DeleteNode(node_id="p-0a000002", change_mode="tracked"))

    assert kinds(word) == [("insertion", "c")]
    assert word.text() == "a c\nz"


def test_what_others_have_deleted_stays_theirs() -> None:
    line = documents.run("a ") + deleted(1, "b ", BOB) + documents.run("c")
    data = documents.document(documents.paragraph(line, paragraph_id="0A000001") + text("z", 2))

    word = tracked(data, DeleteNode(node_id="p-0a000001"))

    assert [(one["change"], one["author"]) for one in changes(word) if one.get("text")] == [
        ("deletion", WHO), ("deletion", "Bob"), ("deletion", WHO),
    ]  # fmt: skip
    assert decided(word, accept=False).text() == "a c\nz"


@pytest.mark.parametrize("place", range(1, 4))
def test_a_paragraph_that_goes_leaves_no_hole_wherever_it_was(place: int) -> None:
    data = documents.document("".join(text(words, number) for number, words in enumerate("abc", 1)))
    edit = DeleteNode(node_id=f"p-0a00000{place}")

    word = tracked(data, edit)

    assert_is_a_suggestion_of(word, edit, data)
    assert len(decided(word, accept=True).text().split("\n")) == 2


@pytest.mark.parametrize("words", ["x", "x\n\ny", "| t |\n|---|", "# H\n\nbelow", "- one\n- two"])
@pytest.mark.parametrize("where", [{"before": "p-0a000001"}, {"after": "p-0a000001"}, {"after": "p-0a000002"}])
def test_what_comes_goes_again_wherever_it_came(where: dict[str, str], words: str) -> None:
    data = documents.document(text("a", 1) + text("", 2))
    edit = InsertContent.model_validate({"content": words, **where})

    word = opened(data)
    result = applied(word, suggested(edit))

    assert_sound(word)
    assert_is_a_suggestion_of(word, edit, data)
    assert set(result["ids"]) <= set(ids(word))


def test_what_moves_is_new_where_it_comes_and_keeps_its_id_where_it_goes() -> None:
    data = documents.document("".join(text(words, number) for number, words in enumerate("abcd", 1)))
    edit = MoveNode(node_id="p-0a000001", after="p-0a000003")
    word = opened(data)

    result = applied(word, suggested(edit))

    assert result["id"] not in {"p-0a000001", *ids(opened(data))}
    assert word.finder().find(result["id"]).element.getprevious() is word.finder().find("p-0a000003").element
    assert_is_a_suggestion_of(word, edit, data)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_rows_come_and_go(at: int) -> None:
    data = documents.document(table(row("a"), row("b"), row("c")) + documents.text("z"))
    node_id = next(one for one in ids(opened(data)) if one.startswith("t-"))
    edit = EditTable(
        table_id=node_id, insert_rows=NewTableRows(at=at, texts=[["new", "row"]]), delete_rows=TableRows(at=at)
    )

    word = tracked(data, edit)

    assert_is_a_suggestion_of(word, edit, data)
    assert xml(word).count("<w:trPr><w:ins ") == xml(word).count("<w:trPr><w:del ") == 1


def test_looks_are_changes_of_formats() -> None:
    data = documents.document(text("plain words here", 1))
    edits = [
        ApplyFormat(find="words", bold=True),
        ApplyFormat(node_id="p-0a000001", align="center", italic=True),
        ApplyFormat(node_id="p-0a000001", heading_level=1),
    ]

    for edit in edits:
        word = tracked(data, edit)
        assert {one["change"] for one in changes(word)} == {"format"}
        assert_is_a_suggestion_of(word, edit, data)


def test_a_format_that_another_has_changed_is_not_changed_over_it() -> None:
    was = f'<w:rPr><w:b/><w:rPrChange w:id="1" {BOB}><w:rPr/></w:rPrChange></w:rPr>'
    data = documents.document(documents.paragraph(f"<w:r>{was}<w:t>bold</w:t></w:r>"))

    with pytest.raises(InvalidEditError, match="is a tracked change of 'Bob' already"):
        tracked(data, ApplyFormat(find="bold", italic=True))


def test_nothing_is_lost_so_nothing_has_to_be_discarded() -> None:
    data = documents.pictures()
    picture = next(one.id for one in opened(data).reader().tree.by_id.values() if one.kind == "picture")
    paragraph = opened(data).reader().tree.parents[picture]
    edit = EditNode(node_id=paragraph.id, text="no picture", change_mode="tracked", change_author=WHO)
    word = opened(data)

    result = applied(word, edit)

    assert "warnings" not in result
    assert decided(word, accept=False).text() == opened(data).text()


def test_a_batch_of_suggestions_is_rejected_as_one() -> None:
    data = documents.chapters()
    word = opened(data)
    applied(
        word,
        suggested(ReplaceText(find="Alpha", replace="Omega")),
        suggested(ReplaceText(find="hello", replace="good bye")),
        suggested(InsertContent(content="At the end.", after="p-6c8dc6cf")),
        suggested(DeleteNode(node_id="p-714b39b0")),
    )

    assert decided(word, accept=False).text() == opened(data).text()
    assert ids(decided(word, accept=False)) == ids(opened(data))


@pytest.mark.parametrize(
    "content",
    ["", "other words", "# Title\n\nbefore\n\n- an item\n\n| a |\n|-|\n| 1 |\n\nafter", "| a |\n|-|\n| 1 |"],
)
@pytest.mark.parametrize(
    "make",
    [
        documents.chapters,
        documents.saved_by_word,
        documents.saved_by_libreoffice,
        documents.foreign_language,
        pages_beside_each_other,
    ],
)
def test_a_page_is_suggested_to_say_something_else_and_stays_that_page(make: Callable[[], bytes], content: str) -> None:
    data = make()
    pages = [one.id for one in nodes(opened(data).outline()) if one.kind == "page"]

    for page in pages:
        edit = EditPage(page_id=page, content=content)
        word = opened(data)
        assert applied(word, suggested(edit))["id"] == page
        assert_is_a_suggestion_of(word, edit, data)
        for one in (word, decided(word, accept=True), decided(word, accept=False)):
            assert page in ids(one)


def test_a_page_of_tables_is_suggested_to_go_with_what_others_have_marked_in_them() -> None:
    mark = '<w:bookmarkStart w:id="4" w:name="_GoBack"/><w:bookmarkEnd w:id="4"/>'
    data = documents.document(
        documents.table(documents.cell(documents.paragraph(documents.run("a") + mark)), columns=1)
        + text("between", 1)
        + documents.table(documents.cell(documents.text("b")), columns=1)
        + text("", 2)
    )
    (page,) = [one.id for one in nodes(opened(data).outline()) if one.kind == "page"]
    edit = EditPage(page_id=page, content="other words")

    word = tracked(data, edit)

    assert_is_a_suggestion_of(word, edit, data)
    assert "_GoBack" in xml(decided(word, accept=True))


@pytest.mark.parametrize(
    ("data", "edit", "why"),
    [
        (documents.nested_tables(), EditTable(table_id="t-39126a8c", insert_columns=NewTableColumns(at="A")), "table"),
        (documents.nested_tables(), EditTable(table_id="t-39126a8c", header_row=True), "what a row is like"),
        (documents.footnotes(), DuplicateNode(node_id="chapter-f12f34f886e9"), "a footnote cannot be inserted"),
        (documents.content_controls(), DeleteNode(node_id="chapter-9b09fba67905"), "a content control cannot be"),
        (documents.papers(), DeleteNode(node_id="chapter-45ba065c5223"), "the end of a section"),
        (documents.papers(), EditPage(page_id="page-43f1f763eff9", content="x"), "the end of a section"),
        (documents.tracked_changes(), DuplicateNode(node_id="p-6247f947"), "holds tracked changes itself"),
    ],
)
def test_what_cannot_be_tracked_is_refused_with_its_name(data: bytes, edit: TrackedEdit, why: str) -> None:
    applied(opened(data), edit)

    with pytest.raises(InvalidEditError, match=why):
        applied(opened(data), suggested(edit))


def test_the_fill_of_cells_is_not_tracked() -> None:
    data = documents.nested_tables()

    with pytest.raises(InvalidEditError, match="how cells look"):
        applied(opened(data), suggested(ApplyFormat(node_id="t-39126a8c", fill="FF0000")))


def test_workbooks_have_no_tracked_changes() -> None:
    workbook = Workbook(Package.read(excel.hard()))

    with pytest.raises(InvalidEditError, match="changeMode tracked is for Word documents"):
        ReplaceText(find="a", replace="b", change_mode="tracked").apply(workbook, occasion())


def test_an_author_is_named_of_tracked_changes_only() -> None:
    with pytest.raises(ValidationError, match="changeAuthor is for changeMode tracked"):
        ReplaceText(find="a", replace="b", change_author="Ann")


_PIECES = st.lists(st.tuples(st.sampled_from(("kept", "ins", "del")), st.sampled_from(("a ", "b", "ab "))), max_size=4)
_TEXTS = st.lists(st.tuples(_PIECES, st.sampled_from(("kept", "kept", "ins"))), min_size=2, max_size=5)
_DEEDS = st.sampled_from(("replace", "write", "delete", "insert", "move", "format"))


@given(_TEXTS, _DEEDS, st.integers(0, 3), st.integers(0, 3), st.sampled_from(("", "x", "b a", "ab ab")))
def test_among_changes_of_others_too_a_suggestion_is_undone_or_done(
    texts: Sequence[tuple[Sequence[tuple[str, str]], str]], deed: str, one: int, other: int, words: str
) -> None:
    number, body = 0, ""
    for pieces, mark in texts:
        held = ""
        for kind, letters in pieces:
            number += 1
            held += {"kept": documents.run(letters), "ins": inserted(number, letters, BOB)}.get(kind) or deleted(
                number, letters, ADA
            )
        number += 1
        properties = "" if mark == "kept" else marked(f'<w:ins w:id="{number}" {BOB}/>')
        body += documents.paragraph(held, properties, f"0B0000{number:02X}")
    data = documents.document(body + documents.text("end", paragraph_id="0A000001"))
    nodes = [each for each in ids(opened(data)) if each.startswith("p-") and "." not in each]
    assume(one < len(nodes) and other < len(nodes))
    edit = _edit(deed, nodes[one], nodes[other], words)
    word, direct = opened(data), opened(data)
    try:
        applied(direct, edit)
        applied(word, suggested(edit))
    except InvalidEditError:
        assume(False)

    assert decided(word, accept=True).text() == direct.text()
    rejected = decided(word, accept=False)
    assert rejected.text() == opened(data).text()
    assert ids(rejected) == ids(opened(data))


def _edit(deed: str, node: str, beside: str, words: str) -> TrackedEdit:
    match deed:
        case "replace":
            return ReplaceText(find="b", replace=words)
        case "write":
            return EditNode(node_id=node, text=words)
        case "delete":
            return DeleteNode(node_id=node)
        case "insert":
            return InsertContent(content=words or "y", after=node)
        case "move":
            return MoveNode(node_id=node, before=beside)
        case _:
            return ApplyFormat(node_id=node, bold=True, align="right")
