"""`duplicate_node` in texts: a node stands there once more, right behind it, under ids of its own."""

from collections.abc import Callable

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.duplicate_node import DuplicateNode
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, assert_sound, opened, parts, written

COPIED = frozenset(("paragraph", "heading", "item", "chapter", "section", "page", "table", "row"))
STAYS = frozenset(("paragraph", "heading", "item", "chapter", "section", "table", "row", "cell"))


def told(word: Word) -> dict[str, tuple[str, str]]:
    return {one.id: (one.kind, one.text) for one in word.reader().tree.by_id.values()}


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_a_copy_says_the_same_and_all_others_stay(make: Callable[[], bytes]) -> None:
    data = make()
    refused: list[str] = []
    for node_id, (kind, text) in told(opened(data)).items():
        if kind not in COPIED:
            continue
        word = opened(data)
        before = {one: said for one, said in told(word).items() if said[0] in STAYS}
        try:
            result = applied(word, DuplicateNode(node_id=node_id))
        except InvalidEditError as error:
            refused.append(str(error))
            continue

        assert_sound(word)
        after = told(word)
        assert {one: after.get(one) for one in before} == before, node_id
        assert result["id"] not in before
        assert after[result["id"]] == (kind, text), node_id
        places = list(after)
        assert places.index(node_id) < places.index(result["id"])
        assert told(opened(written(word))) == after
    assert not refused or make is documents.fields_and_links


def test_notes_are_copied_under_a_number_of_their_own() -> None:
    word = opened(documents.footnotes())
    node_id = next(one.id for one in word.reader().tree.by_id.values() if one.marks.get("footnote") and one.text)

    applied(word, DuplicateNode(node_id=node_id))

    notes = [one for one in word.reader().tree.by_id.values() if one.kind == "footnote" and one.children]
    assert len(notes) == 2
    assert len({one.children[0].text for one in notes}) == 1
    assert_sound(word)


def test_pictures_have_numbers_of_their_own_and_the_picture_is_kept_once() -> None:
    word = opened(documents.pictures())
    pictures = [one.id for one in word.reader().tree.by_id.values() if one.kind == "picture"]
    chapter = next(one.id for one in word.outline() if one.kind == "chapter")

    applied(word, DuplicateNode(node_id=chapter))

    after = [one.id for one in word.reader().tree.by_id.values() if one.kind == "picture"]
    assert len(after) == len(set(after)) > len(pictures)
    assert not [one for one in after if "+" in one]
    assert set(parts(written(word))) == set(parts(documents.pictures()))
