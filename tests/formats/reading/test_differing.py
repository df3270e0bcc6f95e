"""Differences by node: only what changed is told, in whatever form, and a summary is short."""

import json
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.edits.append_rows import AppendRows
from officeplane.edits.delete_page import DeletePage
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.set_cells import FormulaCell, SetCells
from officeplane.edits.write_page import WritePage
from officeplane.formats.opening import Document, read_document
from officeplane.formats.reading.differing import DiffFormat, DiffWanted, differences
from tests.fixtures.documents import excel, powerpoint
from tests.formats.reading.contracts import contract
from tests.formats.word.texts import occasion


def compared(kind: Format, data: bytes, *edits: Any, form: DiffFormat = "nodes", **wanted: Any) -> list[dict[str, Any]]:
    before, after = read_document(kind, data), read_document(kind, data)
    for number, edit in enumerate(edits):
        edit.apply(after, occasion(number))
    return of(before, after, DiffWanted(form, **wanted))


def of(before: Document, after: Document, wanted: DiffWanted) -> list[dict[str, Any]]:
    texts = (before.comparable().text(), after.comparable().text())
    return differences(before.reader(), after.reader(), texts, wanted).items


def test_a_word_that_was_replaced_is_told_with_some_words_around_it() -> None:
    items = compared(Format.DOCX, contract(), ReplaceText(find="undisputed amounts", replace="amounts"))

    assert {item["change"] for item in items} == {"changed"}
    assert all("page" in item for item in items)
    first = items[0]
    assert "undisputed amounts" in first["was"]
    assert "undisputed" not in first["now"]
    assert first["now"].startswith("…")


def test_a_summary_of_21_replacements_takes_300_tokens() -> None:
    (summary,) = compared(Format.DOCX, contract(), ReplaceText(find="thirty days", replace="ten days"), form="summary")

    assert (summary["added"], summary["removed"]) == (0, 0)
    assert summary["changed"] > 20
    told = json.dumps(summary, separators=(",", ":"), ensure_ascii=False)
    assert len(told.encode()) <= 300 * 4


def test_what_came_and_what_went_is_told_as_such() -> None:
    word = read_document(Format.DOCX, contract())
    page = next(detail.id for detail in word.reader().tree.by_id.values() if detail.kind == "page")

    came = compared(Format.DOCX, contract(), WritePage(content="Quite new"))
    went = compared(Format.DOCX, contract(), DeletePage(page_id=page))

    assert [(item["change"], item["now"]) for item in came] == [("added", "Quite new")]
    assert {item["change"] for item in went} == {"removed"}
    assert all("now" not in item for item in went)


def test_lines_have_as_many_around_them_as_are_wanted() -> None:
    edit = ReplaceText(find="Confidentiality", replace="Secrets")

    bare = compared(Format.DOCX, contract(), edit, form="unified", context=0)
    wide = compared(Format.DOCX, contract(), edit, form="unified", context=2)

    assert [item["line"][0] for item in bare] == ["@", "-", "+"]
    assert [item["line"][0] for item in wide] == ["@", " ", " ", "-", "+", " ", " "]


def test_cells_are_told_by_their_addresses() -> None:
    sheet = read_document(Format.XLSX, excel.plain()).outline()[0].text
    cells: dict[str, Any] = {"A1": "Land", "B2": FormulaCell(formula="=1+1")}

    items = compared(Format.XLSX, excel.plain(), SetCells(sheet=sheet, cells=cells))

    assert {item["id"].rpartition("!")[2] for item in items} >= {"A1", "B2"}
    (row,) = compared(Format.XLSX, excel.plain(), AppendRows(sheet=sheet, rows=[["new"]]))
    assert (row["change"], row["now"]) == ("added", "new")


def test_slides_are_told_by_their_shapes() -> None:
    deck = read_document(Format.PPTX, powerpoint.plain())
    slide = deck.outline()[0]

    items = compared(Format.PPTX, powerpoint.plain(), EditSlide(slide_id=slide.id, title="Another title"))

    assert [(item["id"], item["now"]) for item in items] == [(slide.id, "Another title")]


@pytest.mark.parametrize("form", ["summary", "nodes", "unified"])
def test_what_is_the_same_is_not_told(form: DiffFormat) -> None:
    for kind, data in ((Format.DOCX, contract()), (Format.PPTX, powerpoint.rich()), (Format.XLSX, excel.hard())):
        items = compared(kind, data, form=form)

        assert items in ([], [{"added": 0, "removed": 0, "changed": 0, "examples": []}])


def test_parts_of_a_difference_are_the_difference() -> None:
    before, after = (read_document(Format.DOCX, contract()) for _ in range(2))
    ReplaceText(find="thirty days", replace="ten days").apply(after, occasion(1))
    whole = of(before, after, DiffWanted("nodes"))

    read: list[dict[str, Any]] = []
    begin: int | None = 0
    while begin is not None:
        part = differences(before.reader(), after.reader(), ("", ""), DiffWanted("nodes", begin=begin, tokens_max=300))
        read += part.items
        begin = part.next

    assert read == whole
