"""The example of each edit of nodes of a text can be done as it stands."""

import pytest

from officeplane.edits.bookmark import SetBookmark
from officeplane.edits.contract import Edit
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.duplicate_node import DuplicateNode
from officeplane.edits.edit_node import EditNode
from officeplane.edits.edit_table import EditTable
from officeplane.edits.footnote import AddFootnote
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.link import SetLink
from officeplane.edits.move_node import MoveNode
from officeplane.edits.page_setup import PageSetup
from officeplane.edits.review_changes import ReviewChanges
from tests.fixtures.documents.word import cell, document, paragraph, run, table, text
from tests.formats.word.texts import applied, assert_sound, opened

ROW = cell(text("a")) + cell(text("1"))
INSERTED = f'<w:ins w:id="1" w:author="Ann" w:date="2026-01-02T03:04:05Z">{run("more")}</w:ins>'


@pytest.mark.parametrize(
    "edit_type",
    [
        EditNode, InsertContent, DeleteNode, DuplicateNode, MoveNode, EditTable, ReviewChanges, PageSetup, AddFootnote,
        SetLink, SetBookmark,
    ],
)  # fmt: skip
def test_the_example_of_each_edit_can_be_done(edit_type: type[Edit]) -> None:
    example = edit_type.model_json_schema()["examples"][0]
    rows = table(ROW, ROW, ROW)
    if edit_type is EditTable:
        rows = rows.replace("<w:tr>", '<w:tr w14:paraId="1A2B3C4D">', 1)
        paragraphs = ""
    else:
        paragraphs = text("It is due.", paragraph_id="1A2B3C4D") + text("Else.", paragraph_id="5E6F7A8B")
    if edit_type is PageSetup:
        paragraphs = text("Before it.") + paragraphs
    word = opened(document(paragraphs + rows + paragraph(INSERTED)))
    before = word.text()

    applied(word, edit_type.model_validate(example))

    assert_sound(word)
    assert word.text() != before or edit_type in {ReviewChanges, SetLink, SetBookmark}
