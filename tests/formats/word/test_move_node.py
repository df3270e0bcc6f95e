"""`move_node` in texts: a node stands elsewhere, says what it said, and is called what it was called."""

from collections.abc import Callable

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.move_node import MoveNode
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, assert_sound, opened, shape

MOVABLE = frozenset(("paragraph", "heading", "item", "chapter", "section", "page", "table"))
STAYS = frozenset(("paragraph", "heading", "item", "chapter", "section", "table", "row", "cell"))


def told(word: Word) -> dict[str, tuple[str, str]]:
    return {one.id: (one.kind, one.text) for one in word.reader().tree.by_id.values()}


def saying(word: Word, text: str) -> str:
    return next(node_id for node_id, (_, said) in told(word).items() if said == text)


def chapters(*titles: str) -> Word:
    return opened(
        documents.document("".join(documents.heading(1, one) + documents.text(f"In {one}") for one in titles))
    )


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_whatever_moves_keeps_its_id_and_so_do_all_others(make: Callable[[], bytes]) -> None:
    data = make()
    names = [node_id for node_id, (kind, _) in told(opened(data)).items() if kind in MOVABLE]
    refused: list[str] = []
    for node_id in names:
        for other in {names[0], names[-1]} - {node_id}:
            for side in ("before", "after"):
                word = opened(data)
                before = {one: said for one, said in told(word).items() if said[0] in STAYS and said[1]}
                try:
                    applied(word, MoveNode.model_validate({"node_id": node_id, side: other}))
                except InvalidEditError as error:
                    refused.append(str(error))
                    continue

                assert_sound(word)
                after = told(word)
                assert {one: after.get(one) for one in before} == before, (node_id, side, other)
                assert node_id in after
    assert all(any(why in one for why in (" in it", "reaches out", "end of a section", "different")) for one in refused)


def test_a_chapter_moves_with_all_below_it_and_back() -> None:
    word = chapters("One", "Two", "Three")
    before = word.outline()

    applied(word, MoveNode(node_id=saying(word, "One"), after=saying(word, "Two")))
    assert [one.text for one in word.outline()] == ["Two", "One", "Three"]
    assert_sound(word)
    applied(word, MoveNode(node_id=saying(word, "One"), before=saying(word, "Two")))

    assert word.outline() == before


def test_a_paragraph_behind_a_heading_is_directly_below_it() -> None:
    word = chapters("One", "Two")

    applied(word, MoveNode(node_id=saying(word, "In Two"), after=saying(word, "One")))
    assert shape(word) == [("chapter", "One", [("page", "In Two\nIn One")]), ("chapter", "Two")]
    applied(word, MoveNode(node_id=saying(word, "In Two"), into=saying(word, "Two")))

    assert shape(word)[1] == ("chapter", "Two", [("page", "In Two")])


def test_a_row_moves_within_its_table_and_nowhere_else() -> None:
    rows = [documents.cell(documents.text(one)) for one in "abc"]
    word = opened(documents.document(documents.table(*rows, columns=1) + documents.text("end")))
    first, _, last = (node_id for node_id, (kind, _) in told(word).items() if kind == "row")

    applied(word, MoveNode(node_id=last, before=first))

    assert word.text().startswith("c\na\nb")
    with pytest.raises(InvalidEditError, match="row of its table"):
        applied(word, MoveNode(node_id=last, after=saying(word, "end")))


def test_a_move_into_itself_or_of_half_a_comment_is_refused() -> None:
    word = opened(documents.comments())
    chapter = next(one.id for one in word.outline() if one.kind == "chapter")

    with pytest.raises(InvalidEditError, match="into itself"):
        applied(word, MoveNode(node_id=chapter, after=saying(word, "remarked referred")))
    with pytest.raises(InvalidEditError, match="the text of a comment"):
        applied(word, MoveNode(node_id=saying(word, "begins here"), before=saying(word, "remarked referred")))


def test_what_holds_the_end_of_a_section_does_not_move() -> None:
    word = opened(documents.papers())

    with pytest.raises(InvalidEditError, match="end of a section"):
        applied(word, MoveNode(node_id=saying(word, "The last upright words"), after=saying(word, "The end")))
