"""Merges of texts: paragraphs and tables of a file by another program come into what others have made of it."""

import io
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import docx
import pytest
from docx.shared import Pt
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import Format
from officeplane.edits.comment import Comment, NewComment
from officeplane.edits.contract import Edit, Occasion
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.edit_node import EditNode
from officeplane.edits.format import ApplyFormat
from officeplane.edits.image_fields import ONE_PIXEL
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.insert_image import InsertImage
from officeplane.edits.move_node import MoveNode
from officeplane.edits.replace_text import ReplaceText
from officeplane.formats.merging.unit import MergeConflictError
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from tests.formats.merging.merges import conflicts_of, merged, opened, written

Stranger: TypeAlias = Any
"""A document as python-docx has it, which says of few things what they are."""

LINES: Final = (
    "The rent is due on the first day of every month", "Pets are welcome in the garden of the house",
    "Notice is given three months before a quarter ends", "The deposit is paid back when the keys are returned",
    "Nobody smokes in the staircase or in the cellar",
)  # fmt: skip


def a_text(*lines: str, table: bool = False) -> bytes:
    document = docx.Document()
    for line in lines or LINES:
        document.add_paragraph(line)
    if table:
        made = document.add_table(2, 2)
        for row in made.rows:
            for cell in row.cells:
                cell.text = "a cell"
        document.add_paragraph("Below the table stands this")
    return saved(document)


def saved(document: Stranger) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def offline(data: bytes, *changes: Callable[[Stranger], object]) -> bytes:
    """Return a file as python-docx saves it after changes."""
    document = docx.Document(io.BytesIO(data))
    for change in changes:
        change(document)
    return saved(document)


def edited(data: bytes, *edits: Callable[[Document], Edit]) -> bytes:
    """Return a file after edits of ours."""
    document = opened(Format.DOCX, data)
    for number, edit in enumerate(edits):
        edit(document).apply(document, Occasion(f"others-{number}", "ben", datetime(2026, 1, 5, tzinfo=UTC)))
    return written(document)


def says(line: int, text: str) -> Callable[[Stranger], object]:
    return lambda document: setattr(document.paragraphs[line].runs[0], "text", text)


def node(document: Document, text: str) -> str:
    return next(one.id for one in document.reader().tree.by_id.values() if one.text == text)


def lines_of(document: Document) -> list[str]:
    return document.text().split("\n")


def test_changes_in_different_paragraphs_are_both_there() -> None:
    base = a_text()
    upload = offline(base, says(0, "The rent is due on the tenth day of every month"))
    head = edited(base, lambda found: EditNode(node_id=node(found, LINES[2]), text="Notice is given in time"))

    document, made = merged(Format.DOCX, base, upload, head)

    assert lines_of(document) == [
        "The rent is due on the tenth day of every month", LINES[1], "Notice is given in time", *LINES[3:],
    ]  # fmt: skip
    assert (len(made.changed), made.added, made.removed, made.warnings) == (1, [], [], [])


def test_ids_stay_those_of_the_head() -> None:
    base = a_text()
    head = edited(base, lambda found: EditNode(node_id=node(found, LINES[2]), text="Notice is given in time"))
    before = opened(Format.DOCX, head)
    ids = [node(before, line) for line in (LINES[0], LINES[1], "Notice is given in time")]

    document, made = merged(Format.DOCX, base, offline(base, says(0, "The rent is due on any day of the month")), head)

    assert made.changed == ids[:1]
    assert [
        node(document, line)
        for line in ("The rent is due on any day of the month", LINES[1], "Notice is given in time")
    ] == ids


def test_a_paragraph_that_both_have_changed_is_in_conflict_with_what_all_three_say() -> None:
    base = a_text()
    upload = offline(base, says(0, "The rent is due on the tenth day of every month"))
    head = edited(base, lambda found: EditNode(node_id=node(found, LINES[0]), text="The rent is never due"))

    with pytest.raises(MergeConflictError) as refused:
        merged(Format.DOCX, base, upload, head)

    facts = refused.value.facts["conflicts"]
    assert facts == [
        {
            "nodeId": node(opened(Format.DOCX, base), LINES[0]), "base": LINES[0], "head": "The rent is never due",
            "upload": "The rent is due on the tenth day of every month", "detail": "both have changed it",
        }
    ]  # fmt: skip


def test_a_paragraph_that_was_made_bold_is_bold_in_the_head() -> None:
    base = a_text()
    upload = offline(base, lambda document: setattr(document.paragraphs[1].runs[0], "bold", True))
    head = edited(base, lambda found: DeleteNode(node_id=node(found, LINES[4])))

    document, made = merged(Format.DOCX, base, upload, head)

    read: Any = docx.Document(io.BytesIO(written(document)))
    assert [one.runs[0].bold for one in read.paragraphs] == [None, True, None, None]
    assert len(made.changed) == 1


def test_a_format_on_one_side_and_a_text_on_the_other_are_a_conflict() -> None:
    base = a_text()
    upload = offline(base, lambda document: setattr(document.paragraphs[1].runs[0], "bold", True))
    head = edited(base, lambda found: EditNode(node_id=node(found, LINES[1]), text="Pets have to stay outside"))

    with pytest.raises(MergeConflictError) as refused:
        merged(Format.DOCX, base, upload, head)

    assert conflicts_of(refused.value) == [node(opened(Format.DOCX, base), LINES[1])]


def test_what_one_deletes_and_the_other_changes_is_a_conflict() -> None:
    base = a_text()
    upload = offline(base, lambda found: found.element.body.remove(found.paragraphs[1]._p))
    head = edited(
        base, lambda found: EditNode(node_id=node(found, LINES[1]), text="Pets are welcome in the cellar of the house")
    )

    with pytest.raises(MergeConflictError):
        merged(Format.DOCX, base, upload, head)
    with pytest.raises(MergeConflictError):
        merged(Format.DOCX, base, head, upload, head_is_uploaded=True)


def test_a_paragraph_that_others_have_commented_is_not_deleted_with_the_comment() -> None:
    base = a_text()
    upload = offline(base, lambda found: found.element.body.remove(found.paragraphs[1]._p))
    head = edited(base, lambda found: Comment(add=NewComment(node_id=node(found, LINES[1]), text="Which pets?")))

    with pytest.raises(MergeConflictError, match="comment-"):
        merged(Format.DOCX, base, upload, head)


def test_comments_of_others_stay_on_a_paragraph_that_the_upload_changes() -> None:
    base = a_text()
    upload = offline(base, says(1, "Pets are welcome in the cellar of the house"))
    head = edited(base, lambda found: Comment(add=NewComment(node_id=node(found, LINES[1]), text="Which pets?")))

    document, _ = merged(Format.DOCX, base, upload, head)

    (comment,) = [one for one in document.reader().tree.by_id.values() if one.kind == "comment"]
    assert comment.facts["about"] == "Pets are welcome in the cellar of the house"


def test_a_comment_of_the_upload_is_not_merged_and_that_is_told() -> None:
    base = a_text()
    upload = edited(base, lambda found: Comment(add=NewComment(node_id=node(found, LINES[1]), text="Which pets?")))

    document, made = merged(Format.DOCX, base, upload, base)

    assert made.is_nothing
    assert [warning.code for warning in made.warnings] == ["not_merged"]
    assert lines_of(document) == list(LINES)


def test_a_new_paragraph_brings_its_style_its_list_and_its_picture_along() -> None:
    base = a_text()

    def add(document: Stranger) -> None:
        style = document.styles.add_style("Clause", 1)
        style.font.size = Pt(17)
        document.add_paragraph("In a style of its own", style="Clause")
        document.add_paragraph("An item", style="List Bullet")

    upload = edited(
        offline(base, add),
        lambda found: InsertContent(content="1. counted\n2. and counted", after=node(found, "An item")),
        lambda found: InsertImage(base64=ONE_PIXEL, alt="A dot", after=node(found, "An item")),
    )
    head = edited(base, lambda found: DeleteNode(node_id=node(found, LINES[0])))

    document, made = merged(Format.DOCX, base, upload, head)

    assert isinstance(document, Word)
    read: Any = docx.Document(io.BytesIO(written(document)))
    clause = next(one for one in read.paragraphs if one.text == "In a style of its own")
    assert clause.style is not None
    assert (clause.style.name, clause.style.font.size) == ("Clause", Pt(17))
    assert len(read.inline_shapes) == 1
    numbers = [one.number for one in document.reader().tree.by_id.values() if one.text in {"counted", "and counted"}]
    assert numbers == ["1.", "2."]
    assert len(made.added) == 5


def test_a_style_of_the_same_name_is_the_heads_and_that_is_told() -> None:
    base = a_text()
    upload = offline(
        base,
        says(0, "The rent is due on the tenth day of every month"),
        lambda document: setattr(document.styles["Normal"].font, "size", Pt(33)),
    )

    document, made = merged(Format.DOCX, base, upload, base)

    assert [warning.detail for warning in made.warnings] == [
        "the upload has changed styles, which is not merged: it stays as it is in the document"
    ]
    read: Any = docx.Document(io.BytesIO(written(document)))
    assert read.styles["Normal"].font.size != Pt(33)


def test_a_table_is_one_node() -> None:
    base = a_text(table=True)
    upload = offline(base, lambda document: setattr(document.tables[0].cell(0, 0), "text", "another cell"))
    head = edited(base, lambda found: EditNode(node_id=node(found, LINES[0]), text="The rent is never due"))

    document, _ = merged(Format.DOCX, base, upload, head)

    assert "another cell\ta cell" in document.text()
    assert "never due" in document.text()


def test_what_has_moved_offline_moves_and_keeps_what_others_have_written_in_it() -> None:
    base = a_text()

    def move(document: Stranger) -> None:
        document.paragraphs[3]._p.addnext(document.paragraphs[0]._p)

    head = edited(base, lambda found: EditNode(node_id=node(found, LINES[0]), text="The rent is never due"))

    document, made = merged(Format.DOCX, base, offline(base, move), head)

    assert lines_of(document) == [*LINES[1:4], "The rent is never due", LINES[4]]
    assert (len(made.moved), made.changed) == (1, [])


def test_what_both_have_moved_to_different_places_is_a_conflict() -> None:
    base = a_text()
    upload = offline(base, lambda found: found.paragraphs[3]._p.addnext(found.paragraphs[0]._p))
    head = edited(
        base, lambda found: MoveNode(node_id=node(found, LINES[0]), after=node(found, LINES[1]))
    )  # fmt: skip

    with pytest.raises(MergeConflictError, match="moved"):
        merged(Format.DOCX, base, upload, head)


def test_results_of_fields_and_where_runs_begin_are_no_changes() -> None:
    base = a_text()

    def split(document: Stranger) -> None:
        paragraph = document.paragraphs[0]
        paragraph.runs[0].text = LINES[0][:10]
        paragraph.add_run(LINES[0][10:])

    document, made = merged(Format.DOCX, base, offline(base, split), base)

    assert made.is_nothing
    assert lines_of(document) == list(LINES)


def test_both_replace_words_of_different_paragraphs_and_format_others() -> None:
    base = a_text()
    upload = edited(
        base,
        lambda _: ReplaceText(find="garden", replace="yard"),
        lambda found: ApplyFormat(node_id=node(found, LINES[3]), bold=True),
    )
    head = edited(
        base,
        lambda _: ReplaceText(find="three months", replace="a year"),
        lambda found: ApplyFormat(node_id=node(found, LINES[4]), italic=True),
    )

    document, made = merged(Format.DOCX, base, upload, head)

    read: Any = docx.Document(io.BytesIO(written(document))).paragraphs
    assert "yard" in read[1].text
    assert "a year" in read[2].text
    assert (read[3].runs[0].bold, read[4].runs[0].italic) == (True, True)
    assert len(made.changed) == 2


_DEEDS: Final = st.sampled_from(["keep", "change", "delete", "insert"])
_SIDES: Final = st.lists(_DEEDS, min_size=len(LINES), max_size=len(LINES))


def _done(deeds: Sequence[str], whose: str) -> list[str]:
    """Return the lines after one side's deeds."""
    lines: list[str] = []
    for line, deed in zip(LINES, deeds, strict=True):
        if deed != "delete":
            lines.append(f"{line} {whose}" if deed == "change" else line)
        if deed == "insert":
            lines.append(f"{whose} has put this behind {line[:12]}")
    return lines


def _by_stranger(deeds: Sequence[str], whose: str) -> bytes:
    def do(document: Stranger) -> None:
        for paragraph, line, deed in zip(document.paragraphs, LINES, deeds, strict=True):
            if deed == "change":
                paragraph.runs[0].text = f"{line} {whose}"
            elif deed == "delete":
                document.element.body.remove(paragraph._p)
            elif deed == "insert":
                made = document.add_paragraph(f"{whose} has put this behind {line[:12]}")
                paragraph._p.addnext(made._p)

    return offline(a_text(), do)


@settings(max_examples=25, deadline=None)
@given(_SIDES, _SIDES)
def test_what_only_one_has_done_is_done_and_what_both_have_is_refused(ours: list[str], theirs: list[str]) -> None:
    base, head, upload = a_text(), _by_stranger(ours, "ann"), _by_stranger(theirs, "ben")
    pairs = [*zip(ours, theirs, strict=True)]
    clashes = any("change" in pair and pair not in {("change", "keep"), ("keep", "change")} and "insert" not in pair
                  for pair in pairs)  # fmt: skip
    stands_on_nothing = any(
        one == "insert" and other == "delete" for pair in pairs for one, other in (pair, pair[::-1])
    )  # fmt: skip

    try:
        document, _ = merged(Format.DOCX, base, upload, head, head_is_uploaded=True)
    except MergeConflictError:
        assert clashes or stands_on_nothing
        return

    assert not clashes
    wanted = {*_done(ours, "ann"), *_done(theirs, "ben")}
    gone = {line for line, pair in zip(LINES, pairs, strict=True) if {"change", "delete"} & {*pair}}
    assert {*lines_of(document)} == wanted - gone


@settings(max_examples=15, deadline=None)
@given(_SIDES)
def test_a_head_that_nobody_has_changed_reads_as_the_upload(theirs: list[str]) -> None:
    upload = _by_stranger(theirs, "ben")

    document, _ = merged(Format.DOCX, a_text(), upload, a_text())

    assert lines_of(document) == (_done(theirs, "ben") or [""])
