"""`insert_content` in texts: beside any node, or at the end of what holds others."""

from collections.abc import Callable

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.insert_content import InsertContent
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, assert_sound, opened, shape, xml

BESIDE = frozenset(("paragraph", "heading", "item", "table", "chapter", "section", "page"))


def told(word: Word) -> dict[str, tuple[str, str]]:
    return {one.id: (one.kind, one.text) for one in word.reader().tree.by_id.values()}


def saying(word: Word, text: str) -> str:
    return next(node_id for node_id, (_, said) in told(word).items() if said == text)


def order(word: Word, *texts: str) -> list[str]:
    """Return those of these texts that the document says, in its order."""
    return [text for _, text in told(word).values() if text in texts]


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_what_is_inserted_beside_a_node_is_read_there_and_all_others_stay(make: Callable[[], bytes]) -> None:
    data = make()
    for node_id, (kind, text) in told(opened(data)).items():
        if kind not in BESIDE:
            continue
        for side in ("before", "after"):
            word = opened(data)
            before = told(word)

            result = applied(word, InsertContent.model_validate({"content": "Brand new", side: node_id}))

            assert_sound(word)
            after = told(word)
            assert after[result["id"]] == ("paragraph", "Brand new")
            if text and kind != "page":
                places = list(after)
                assert (places.index(node_id) < places.index(result["id"])) == (side == "after")
            # Pages may go on, or begin, elsewhere; a control without a number is called by what it holds first.
            stays = {one: said for one, said in before.items() if said[0] not in {"page", "content control"}}
            assert {one: after.get(one) for one in stays} == stays


def test_a_heading_is_followed_directly_by_what_comes_after_it() -> None:
    word = opened(documents.document(documents.heading(1, "Terms") + documents.text("Scope")))

    terms = saying(word, "Terms")
    applied(
        word,
        InsertContent(content="First", after=terms),
        InsertContent(content="Before all", before=terms),
        InsertContent(content="Last", into=terms),
    )

    assert order(word, "Terms", "Scope", "First", "Before all", "Last") == [
        "Before all", "Terms", "First", "Scope", "Last",
    ]  # fmt: skip
    assert_sound(word)


def test_levels_are_absolute_and_new_chapters_and_sections_have_ids() -> None:
    word = opened(documents.document(documents.heading(1, "Terms") + documents.text("Scope") + documents.text("End")))
    content = "Still there\n\n## Fees\n\nMuch\n\n# Law\n\n### Third\n\nSome"

    result = applied(word, InsertContent(content=content, after=saying(word, "Scope")))

    assert shape(word) == [
        ("chapter", "Terms", [("page", "Scope\nStill there"), ("section", "Fees", [("page", "Much")])]),
        ("chapter", "Law", [("page", "Third\nSome\nEnd")]),
    ]
    kinds = [told(word)[node_id][0] for node_id in result["ids"]]
    assert kinds == ["paragraph", "section", "paragraph", "chapter", "heading", "paragraph"]
    assert_sound(word)


def test_an_item_next_to_a_list_belongs_to_it() -> None:
    word = opened(documents.document(documents.text("Before")))
    applied(word, InsertContent(content="1. one\n2. two\n3. three", after=saying(word, "Before")))

    applied(word, InsertContent(content="1. one and a half", after=saying(word, "one")))
    applied(word, InsertContent(content="1. last", after=saying(word, "three")))

    numbers = [one.number for one in word.reader().tree.by_id.values() if one.kind == "item"]
    assert numbers == ["1.", "2.", "3.", "4.", "5."]
    assert_sound(word)


def test_a_style_is_taken_by_its_name_and_others_are_named() -> None:
    word = opened(documents.document(documents.text("One")))

    with pytest.raises(InvalidEditError, match="Normal"):
        applied(word, InsertContent(content="Two", after=saying(word, "One"), style="Nothing like it"))
    result = applied(word, InsertContent(content="Two", after=saying(word, "One"), style="Heading 2"))

    assert told(word)[result["id"]] == ("section", "Two")


@pytest.mark.parametrize("kind", ["row", "cell", "header", "footnote", "picture", "text box"])
def test_content_beside_what_is_no_block_is_refused(kind: str) -> None:
    make = next(
        make for make in documents.HARD.values() if any(found == kind for found, _ in told(opened(make())).values())
    )
    word = opened(make())
    node_id = next(node_id for node_id, (found, _) in told(word).items() if found == kind)

    with pytest.raises(InvalidEditError, match=f"is a {kind}"):
        applied(word, InsertContent(content="x", after=node_id))


def test_tables_do_not_touch_and_a_cell_ends_with_a_paragraph() -> None:
    word = opened(documents.merged_cells())
    table = next(node_id for node_id, (kind, _) in told(word).items() if kind == "table")
    cell = next(node_id for node_id, (kind, _) in told(word).items() if kind == "cell")
    rows = "| a |\n|---|\n| b |"

    applied(word, InsertContent(content=rows, after=table))
    applied(word, InsertContent(content=rows, before=table))
    applied(word, InsertContent(content=f"{rows}\n\n{rows}", into=cell))

    assert_sound(word)
    assert xml(word).count("<w:tbl>") >= 5
