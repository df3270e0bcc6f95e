"""Ids of paragraphs: what reading gives stays, whoever edits what."""

import re
from collections.abc import Callable, Mapping

import pytest

from officeplane.edits.add_chapter import AddChapter
from officeplane.edits.add_section import AddSection
from officeplane.edits.contract import Edit
from officeplane.edits.delete_page import DeletePage
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.write_page import WritePage
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import (
    MAIN,
    W,
    applied,
    assert_sound,
    node,
    occasion,
    opened,
    parts,
    reopened,
    written,
    xml,
)

EDITS: Mapping[str, Callable[[], Edit]] = {
    "a chapter before all": lambda: AddChapter(title="Said before", position=0),
    "a page before all": lambda: WritePage(content="Said before\n\n- one\n- two", position=0),
    "a section": lambda: AddSection(title="Said behind"),
}
_STAMPED = ("paragraph", "heading", "item", "table", "row", "cell")


def saying(*texts: str) -> bytes:
    return documents.document("".join(map(documents.text, texts)))


def told(word: Word) -> dict[str, tuple[str, str]]:
    """Return what each paragraph, table, row and cell says, by its id."""
    tree = word.reader().tree
    return {one.id: (one.kind, one.text) for one in tree.by_id.values() if one.kind in _STAMPED}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_ids_that_reading_gave_outlive_an_edit_of_something_else(
    make: Callable[[], bytes], edit: Callable[[], Edit]
) -> None:
    word = opened(make())
    before = told(word)

    applied(word, edit())

    after = told(word)
    assert {node_id: after.get(node_id) for node_id in before} == before
    assert told(opened(written(word))) == after
    assert_sound(word)


def test_a_twin_keeps_its_id_when_the_one_before_it_goes() -> None:
    word = opened(saying("Alike", "Alike", "Alike"))
    first, second, third = told(word)
    applied(word, ReplaceText(find="Nothing of this", replace="", expected_count=0))
    assert list(told(word)) == [first, second, third]

    applied(word, WritePage(content="Alike", position=0))
    page = word.outline()[0].id
    assert list(told(word))[1:] == [first, second, third]
    applied(word, DeletePage(page_id=page))

    assert list(told(word)) == [first, second, third]


def test_headings_that_say_the_same_keep_their_ids() -> None:
    word = opened(documents.document("".join(documents.heading(1, words) for words in ("Terms", "Terms", "Other"))))
    first, second, other = (one.id for one in word.outline())

    applied(word, ReplaceText(find="Other", replace="Others"), AddChapter(title="Terms", position=0))

    assert [one.id for one in word.outline()][1:] == [first, second, other]


def test_new_paragraphs_are_named_by_the_task_and_not_by_what_they_say() -> None:
    warm = opened(saying("Alike"))
    (first,) = told(warm)
    cold = written(warm)
    edits = [WritePage(content="Alike"), WritePage(content="Alike"), AddSection(title="End", content="Alike")]

    for number, edit in enumerate(edits):
        edit.apply(warm, occasion(number))
        other = opened(cold)
        edit.apply(other, occasion(number))
        cold = written(other)
        assert written(warm) == cold

    ids = [node_id for node_id, (_, text) in told(warm).items() if text == "Alike"]
    assert ids[0] == first
    assert len(set(ids)) == 4


def test_a_paragraph_whose_id_another_has_already_is_given_one_of_its_own() -> None:
    word = opened(saying("One", "Two"))
    applied(word, ReplaceText(find="One", replace="Uno"))
    root = word.package.tree(MAIN)
    paragraphs = [*root.iter(f"{W}p")]
    name = "{http://schemas.microsoft.com/office/word/2010/wordml}paraId"
    paragraphs[1].set(name, paragraphs[0].get(name, ""))
    word.package.changed(MAIN)
    again = opened(written(word))
    one, two = told(again)
    assert one != two

    applied(again, WritePage(content="Before", position=0))

    assert list(told(again))[1:] == [one, two]
    ids = [paragraph.get(name) for paragraph in again.package.tree(MAIN).iter(f"{W}p")]
    assert len(set(ids)) == len(ids)


def test_programs_that_do_not_know_such_ids_may_pass_over_them() -> None:
    files = parts(saying("One"))
    files[MAIN] = re.sub(rb' (xmlns:(w14|mc)|mc:Ignorable)="[^"]*"', b"", files[MAIN])
    word = opened(documents.zipped(files))
    assert "w14" not in xml(word)

    applied(word, WritePage(content="Two"))

    root = word.package.tree(MAIN)
    assert "w14" in root.get("{http://schemas.openxmlformats.org/markup-compatibility/2006}Ignorable", "").split()
    assert xml(word).count("xmlns:w14=") == 1
    assert [paragraph.text for paragraph in reopened(word).paragraphs if paragraph.text] == ["One", "Two"]


def test_what_was_stamped_since_is_no_change_of_a_node() -> None:
    was, now = opened(documents.chapters()), opened(documents.chapters())
    applied(now, WritePage(content="Somewhere else"))

    for node_id in was.reader().tree.by_id:
        if was.fingerprint(node_id) is not None:
            assert was.fingerprint(node_id) == now.fingerprint(node_id), node_id
    assert now.fingerprint(node(now, "Somewhere else").id) is not None
