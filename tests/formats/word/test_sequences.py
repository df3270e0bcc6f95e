"""Whatever edits come one after another: warm or cold, the file is the same, sound, and says what they said."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_chapter import AddChapter
from officeplane.edits.add_comment import AddComment
from officeplane.edits.add_section import AddSection
from officeplane.edits.comment import Comment, CommentReply
from officeplane.edits.contract import Edit
from officeplane.edits.delete_page import DeletePage
from officeplane.edits.edit_page import EditPage
from officeplane.edits.image_fields import ONE_PIXEL
from officeplane.edits.insert_table import InsertTable
from officeplane.edits.page_setup import PageSetup
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.review_changes import ReviewChanges
from officeplane.edits.tracked import TrackedEdit
from officeplane.edits.write_page import WritePage
from officeplane.formats.search import Wanted
from officeplane.formats.word.document import Word
from officeplane.formats.xml import is_storable
from tests.fixtures.documents import word as documents
from tests.formats.word.suggestions import WHO, changes, suggested
from tests.formats.word.texts import applied, assert_sound, node, nodes, occasion, opened, written

STARTS = {name: make for name, make in documents.HARD.items() if name != "fields_and_links"}
TEXTS = st.text(min_size=1, max_size=40).filter(is_storable)


def an_edit(word: Word, chance: random.Random, number: int) -> Edit:
    """Return an edit that the document can have as it is now."""
    known = list(nodes(word.outline()))
    chapters = [one.id for one in known if one.kind == "chapter"]
    headings = [one.id for one in known if one.kind in {"chapter", "section"}]
    pages = [one.id for one in known if one.kind in {"page", "table"}]
    position = chance.choice([None, 0, 1, 5])
    token = f"token{number}x"
    brought = f"- [x] {token} ![x](data:image/png;base64,{ONE_PIXEL})[^n]\n\n[^n]: {token}"
    content = chance.choice([None, token, brought])
    choices: list[Edit] = [
        AddChapter(title=token, position=position),
        AddSection(title=token, chapter_id=chance.choice(chapters or [None]), content=content, position=position),
        WritePage(content=f"{token}\n\n1. a\n   - b", section_id=chance.choice(headings or [None]), position=position),
        InsertTable(rows=[[token, 1]], section_id=chance.choice(headings or [None])),
    ]
    if pages:
        choices += [
            EditPage(page_id=chance.choice(pages), content=f"{token}\n\n| {token} |\n|---|", discard=True),
            DeletePage(page_id=chance.choice(pages)),
            AddComment(node_id=chance.choice(pages), text=token),
        ]
    setup: dict[str, object] = {
        "header": f"{token}\n\nsame",
        "footer": "same\n\nsame",
        "pageNumbers": {"position": "bottom-right"},
        "discard": True,
    }
    choices.append(PageSetup.model_validate(setup))
    # Before the first node there is nothing that a section could end with.
    later = [one.id for one in known[1:] if one.id in {*headings, *pages}]
    if later:
        setup["nodeId"] = chance.choice(later)
        setup["break"] = chance.choice(["page", "nextPage", "continuous"])
        choices.append(PageSetup.model_validate({**setup, "orientation": chance.choice(["portrait", "landscape"])}))
    remarks = [one.id for one in known if one.kind == "comment"]
    if remarks:
        choices.append(Comment(reply=CommentReply(comment_id=chance.choice(remarks), text=token)))
    if word.places_of(Wanted("e")):
        choices.append(ReplaceText(find="e", replace=chance.choice(["ee", "", "\n"])))
    if any(change.get("author") == WHO for change in changes(word)):
        accept = chance.random() < 0.5
        choices.append(ReviewChanges(accept=accept, reject=not accept, author=WHO))
    edit = chance.choice(choices)
    return suggested(edit) if isinstance(edit, TrackedEdit) and chance.random() < 0.4 and _fits(word, edit) else edit


def _fits(word: Word, edit: TrackedEdit) -> bool:
    """Tell whether an edit can be a suggestion in the document as it is now."""
    try:
        applied(opened(written(word)), suggested(edit))
    except InvalidEditError:
        return False
    return True


@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize("seed", range(3))
def test_a_warm_document_and_one_read_anew_become_the_same(name: str, seed: int) -> None:
    chance = random.Random(f"{name}{seed}")
    warm = opened(STARTS[name]())
    for number in range(12):
        before = written(warm)
        cold = opened(before)
        if chance.random() < 0.3:
            an_edit(warm, chance, -1).apply(warm, occasion(-1))
            warm.package.rollback()
        edit = an_edit(warm, chance, number)

        results = edit.apply(warm, occasion(number)), edit.apply(cold, occasion(number))

        assert results[0] == results[1]
        assert warm.outline() == cold.outline()
        assert written(warm) == written(cold)
        if not isinstance(edit, DeletePage | ReviewChanges):
            assert f"token{number}x" in repr(warm.outline()) or isinstance(edit, ReplaceText)
    assert_sound(warm)


@pytest.mark.parametrize("name", STARTS)
def test_an_edit_of_one_node_leaves_the_ids_of_all_others(name: str) -> None:
    chance = random.Random(name)
    word = opened(STARTS[name]())
    for number in range(25):
        edit = an_edit(word, chance, number)
        if isinstance(edit, ReplaceText | ReviewChanges):
            continue
        # Headers of all sections come in place of those that they have.
        beside = {"header", "footer"} if isinstance(edit, PageSetup) else set[str]()
        there = [*nodes(word.outline())]
        before = [one.id for one in there if one.kind not in beside]

        edit.apply(word, occasion(number))

        gone = {edit.page_id} if isinstance(edit, DeletePage) else set[str]()
        if isinstance(edit, PageSetup) and edit.model_dump()["break"] == "continuous":
            # What stood on a page of its own goes on where the page before ends.
            gone = {one.id for one in there if one.kind == "page"}
        after = [one.id for one in nodes(word.outline())]
        assert set(before) - set(after) <= gone
        assert [one for one in after if one in before and not one.startswith("comment")] == [
            one for one in before if one in after and not one.startswith("comment")
        ]


@given(TEXTS)
@settings(max_examples=60, deadline=None)
def test_any_text_survives(text: str) -> None:
    word = opened(documents.chapters())
    line = text.replace("\r", " ").replace("\n", " ")
    lines = text.replace("\r\n", "\n").replace("\r", "\n")

    chapter = applied(word, AddChapter(title=line))["id"]
    replaced = ReplaceText(find="hello", replace=text).apply(word, occasion(7))["id"]
    comment = AddComment(node_id=chapter, text=text).apply(word, occasion(8))["id"]
    InsertTable(rows=[[line]], section_id=chapter).apply(word, occasion(9))

    again = opened(written(word))
    found = {one.id: one.text for one in nodes(again.outline())}
    assert found[chapter] == line
    assert found[replaced] == f"Alpha says {lines}."
    assert found[comment] == lines
    assert line.replace("\t", " ") in again.text()
    assert again.places_of(Wanted(line))


def test_a_replaced_word_is_found_where_it_was() -> None:
    word = opened(documents.chapters())

    told = applied(word, ReplaceText(find="Alpha", replace="Omega"))

    assert told["replaced"] == 4
    assert [one.id for one in (node(word, "Omega"), node(word, "Omega says hello."))] == told["ids"][:2]
    assert set(told["ids"]) <= {one.id for one in nodes(word.outline())}
