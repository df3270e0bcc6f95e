"""`delete_node` in texts: a node goes with all below it, and nothing else does."""

from collections.abc import Callable

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.insert_content import InsertContent
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, assert_sound, opened, shape, xml

DELETABLE = frozenset(
    (
        "paragraph", "heading", "item", "chapter", "section", "page", "table", "row", "picture", "chart", "diagram",
        "text box", "footnote", "endnote", "page break", "column break", "formula", "content control",
    )
)  # fmt: skip


def told(word: Word) -> dict[str, tuple[str, str]]:
    return {one.id: (one.kind, one.text) for one in word.reader().tree.by_id.values()}


def saying(word: Word, text: str) -> str:
    return next(node_id for node_id, (_, said) in told(word).items() if said == text)


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_what_is_deleted_is_gone_and_all_others_stay(make: Callable[[], bytes]) -> None:
    data = make()
    refused: list[str] = []
    for node_id, (kind, _) in told(opened(data)).items():
        if kind not in DELETABLE:
            continue
        word = opened(data)
        tree = word.reader().tree
        inside = {one.id for one in tree.below(tree.by_id[node_id])}
        before = {one: said for one, said in told(word).items() if one not in inside}
        try:
            applied(word, DeleteNode(node_id=node_id))
        except InvalidEditError as error:
            refused.append(str(error))
            continue

        assert_sound(word)
        after = told(word)
        assert after.get(node_id, ("", ""))[1] == "", node_id
        if kind in {"paragraph", "item", "row", "section", "chapter"}:
            around = {said for found, said in before.values() if found in {"paragraph", "item"} and said.strip()}
            assert around <= {said for _, said in after.values()}, node_id
    assert not refused or make is documents.fields_and_links


def test_what_was_inserted_and_deleted_leaves_the_text_as_it_was() -> None:
    word = opened(documents.chapters())
    before = word.text()
    node_id = next(node_id for node_id, (kind, _) in told(word).items() if kind == "paragraph")

    result = applied(word, InsertContent(content="One\n\n- two\n\n## Three\n\nFour", after=node_id))
    for made in result["ids"][:3]:
        applied(word, DeleteNode(node_id=made))

    assert "Three" not in word.text()
    assert word.text().startswith(before[: before.index("\n")])
    assert_sound(word)


def test_a_heading_goes_with_all_below_it_up_to_the_next_of_its_level() -> None:
    word = opened(
        documents.document(
            documents.heading(1, "Terms") + documents.heading(3, "Scope") + documents.text("a")
            + documents.heading(4, "Part") + documents.text("b") + documents.heading(3, "Fees") + documents.text("c")
        )
    )  # fmt: skip

    applied(word, DeleteNode(node_id=saying(word, "Scope")))

    assert shape(word) == [("chapter", "Terms", [("page", "Fees\nc")])]


def test_the_last_row_goes_with_its_table_and_cells_merged_with_a_row_begin_in_the_next() -> None:
    cells = documents.cell(documents.text("a"), '<w:vMerge w:val="restart"/>')
    below = documents.cell(documents.text(""), "<w:vMerge/>")
    data = documents.document(documents.table(cells, below, columns=1) + documents.text("end"))
    word = opened(data)
    rows = [node_id for node_id, (kind, _) in told(word).items() if kind == "row"]

    applied(word, DeleteNode(node_id=rows[0]))
    assert xml(word).count('<w:vMerge w:val="restart"/>') == 1
    applied(word, DeleteNode(node_id=rows[1]))

    assert "<w:tbl>" not in xml(word)
    assert_sound(word)


def test_a_footnote_goes_with_its_mark_whichever_is_named() -> None:
    data = documents.footnotes()
    named = [node_id for node_id, (kind, _) in told(opened(data)).items() if kind == "footnote"]
    assert len(named) == 2

    for node_id in named:
        word = opened(data)
        applied(word, DeleteNode(node_id=node_id))

        assert "footnoteReference" not in xml(word)
        assert not [kind for kind, _ in told(word).values() if kind == "footnote"]
        assert_sound(word)


def test_comments_and_bookmarks_outlive_their_paragraph_and_pictures_are_told() -> None:
    word = opened(documents.comments())
    node_id = next(node_id for node_id, (_, text) in told(word).items() if "remarked" in text)
    applied(word, DeleteNode(node_id=node_id))
    assert "_Ref123" in xml(word)
    assert xml(word).count("w:commentReference") == 2
    assert_sound(word)

    word = opened(documents.pictures())
    page = next(node_id for node_id, (kind, _) in told(word).items() if kind == "chapter")
    result = applied(word, DeleteNode(node_id=page))

    assert {one["code"] for one in result["warnings"]} == {"lost"}
    assert "picture" in result["warnings"][0]["detail"]


@pytest.mark.parametrize("kind", ["cell", "header", "change", "comment"])
def test_what_cannot_go_by_itself_is_refused(kind: str) -> None:
    make = next(
        make for make in documents.HARD.values() if any(found == kind for found, _ in told(opened(make())).values())
    )
    word = opened(make())
    node_id = next(node_id for node_id, (found, _) in told(word).items() if found == kind)

    with pytest.raises(InvalidEditError, match=f"is a {kind}"):
        applied(word, DeleteNode(node_id=node_id))
