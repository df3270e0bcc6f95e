"""`edit_node` in texts: what is read can be given back changed, and what stays alike keeps its looks."""

import re
from collections.abc import Callable

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.edit_node import EditNode
from officeplane.formats.reading.detail import Detail
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, assert_sound, opened, parts, written, xml

WRITTEN = frozenset(
    (
        "paragraph",
        "heading",
        "item",
        "chapter",
        "section",
        "cell",
        "header",
        "footer",
        "footnote",
        "endnote",
        "text box",
    )
)

NAMES = ("commentRangeStart", "commentRangeEnd", "commentReference", 'w:name="theirs"')


def editable(word: Word) -> dict[str, Detail]:
    """Return the nodes whose text can be changed, by their ids."""
    return {
        one.id: one
        for one in word.reader().tree.by_id.values()
        if one.kind in WRITTEN and not (one.kind in {"footnote", "endnote"} and one.mark)
    }


def content(word: Word, node_id: str) -> str:
    reader = word.reader()
    return reader.content(reader.tree.by_id[node_id]) or ""


def saying(word: Word, text: str) -> str:
    """Return the id of the node that says just this."""
    return next(one.id for one in editable(word).values() if one.text == text)


def edited(data: bytes, saying_so: str, **payload: object) -> Word:
    word = opened(data)
    applied(word, EditNode.model_validate({"node_id": saying(word, saying_so), **payload}))
    assert_sound(word)
    return word


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_content_that_was_read_changes_nothing(make: Callable[[], bytes]) -> None:
    word = opened(make())
    before = written(word)

    for node_id in editable(word):
        assert applied(word, EditNode(node_id=node_id, content=content(word, node_id)))["id"] == node_id

        assert written(word) == before, node_id


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_what_was_written_is_read_and_nothing_else_has_changed(make: Callable[[], bytes]) -> None:
    data = make()
    refused: list[str] = []
    for node_id in editable(opened(data)):
        for payload in ({"content": "So **much** for *that*"}, {"text": "So much"}, {"text": ""}):
            word = opened(data)
            before = editable(word)
            below = {one for one in before if node_id in _around(word, one) or one in _around(word, node_id)} | {
                node_id
            }
            try:
                result = applied(word, EditNode.model_validate({"node_id": node_id, "discard": True, **payload}))
            except InvalidEditError as error:
                refused.append(str(error))
                continue

            assert_sound(word)
            after = word.reader().tree.by_id
            if "content" in payload:
                assert "So **much** for *that*" in content(word, node_id)
            elif payload["text"]:
                assert "So much" in word.text()
            assert result["id"] == node_id
            for other, detail in before.items():
                # A page of which nothing is to be seen any more is none that reading tells of.
                if other not in below and (other in after or payload.get("text") != ""):
                    assert after[other].text == detail.text, (node_id, other)
    assert all("reaches out of the paragraph" in message for message in refused)
    assert not refused or make is documents.fields_and_links


def _around(word: Word, node_id: str) -> set[str]:
    parents = word.reader().tree.parents
    found: set[str] = set()
    at = parents.get(node_id)
    while at is not None:
        found.add(at.id)
        at = parents.get(at.id)
    return found


def test_what_stays_alike_keeps_its_runs_and_what_is_new_looks_like_what_it_replaces() -> None:
    red = '<w:color w:val="FF0000"/>'
    data = documents.document(
        documents.paragraph(documents.run("Pay ") + documents.run("thirty", red) + documents.run(" days", "<w:i/>"))
    )

    word = edited(data, "Pay thirty days", text="Pay fourteen days")

    made = xml(word)
    assert '<w:r><w:t xml:space="preserve">Pay </w:t></w:r>' in made
    assert f"<w:r><w:rPr>{red}</w:rPr><w:t>four" in made
    assert '<w:r><w:rPr><w:i/></w:rPr><w:t xml:space="preserve"> days</w:t></w:r>' in made


def test_emphasis_is_what_content_says_and_the_colour_what_stood_there() -> None:
    data = documents.document(documents.paragraph(documents.run("Pay now", '<w:color w:val="FF0000"/>')))

    word = edited(data, "Pay now", content="Pay **later**, *please*")

    node_id = next(iter(word.reader().tree.by_id.values())).children[0].id
    assert content(word, node_id) == "Pay **later**, *please*"
    assert xml(word).count("FF0000") == xml(word).count("<w:r>")
    applied(word, EditNode(node_id=node_id, content="Pay later, please", keep_format=False))
    assert "FF0000" not in xml(word)


def test_several_blocks_for_one_paragraph_are_refused() -> None:
    word = opened(documents.document(documents.text("One")))
    node_id = saying(word, "One")

    with pytest.raises(InvalidEditError, match="insert_content"):
        applied(word, EditNode(node_id=node_id, content="One\n\nTwo"))
    with pytest.raises(InvalidEditError, match="insert_content"):
        applied(word, EditNode(node_id=node_id, content="| a |\n|---|\n| b |"))


def test_a_chapter_is_renamed_and_keeps_its_id_and_what_is_below_it() -> None:
    word = opened(documents.chapters())
    chapter = next(one for one in word.outline() if one.kind == "chapter")

    applied(word, EditNode(node_id=chapter.id, content="# Named anew"))

    after = next(one for one in word.outline() if one.kind == "chapter")
    assert (after.id, after.text) == (chapter.id, "Named anew")
    assert [one.id for one in after.children] == [one.id for one in chapter.children]
    assert_sound(word)


def test_a_level_in_content_is_the_level_of_the_heading() -> None:
    word = opened(documents.document(documents.heading(1, "Terms") + documents.text("Scope")))

    result = applied(word, EditNode(node_id=saying(word, "Scope"), content="## Scope"))

    section = word.outline()[0].children[0]
    assert (section.kind, section.text, section.id) == ("section", "Scope", result["id"])
    assert_sound(word)


def test_a_picture_stays_where_content_names_it_and_goes_only_if_that_is_meant() -> None:
    word = opened(documents.pictures())
    node = next(one for one in editable(word).values() if any(held.kind == "picture" for held in one.children))
    before = content(word, node.id)
    assert "![" in before

    applied(word, EditNode(node_id=node.id, content=f"Seen: {before}"))
    assert "![" in content(word, node.id)
    with pytest.raises(InvalidEditError, match="picture"):
        applied(word, EditNode(node_id=node.id, content="Nothing to see"))
    word = opened(documents.pictures())
    result = applied(word, EditNode(node_id=node.id, content="Nothing to see", discard=True))

    assert result["warnings"][0]["code"] == "lost"
    assert content(word, node.id) == "Nothing to see"


def test_comments_and_bookmarks_of_others_survive() -> None:
    word = opened(documents.comments())
    marks = [xml(word).count(name) for name in NAMES]

    for node_id in editable(word):
        applied(word, EditNode(node_id=node_id, text="Other words"))

    assert [xml(word).count(name) for name in NAMES] == marks


def test_a_cell_takes_several_paragraphs_and_gives_them_back() -> None:
    word = opened(documents.merged_cells())
    cell = next(one for one in editable(word).values() if one.kind == "cell" and one.children)

    applied(word, EditNode(node_id=cell.id, content="One\n\n- two\n- three\n\n| a |\n|---|\n| b |"))

    assert_sound(word)
    assert content(word, cell.id) == "One\n\n- two\n- three\n\n| **a** |\n| --- |\n| b |"
    before = written(word)
    applied(word, EditNode(node_id=cell.id, content=content(word, cell.id)))
    assert written(word) == before


def test_a_link_in_a_header_leads_where_it_says() -> None:
    word = opened(documents.headers_and_footers())
    header = next(one for one in editable(word).values() if one.kind == "header")

    applied(word, EditNode(node_id=header.id, content="See [us](https://example.org/)", discard=True))

    assert_sound(word)
    assert content(word, header.id) == "See [us](https://example.org/)"
    assert "https://example.org/" in word.package.content(f"word/_rels/{header.id}.xml.rels").decode()


def test_the_copy_of_a_text_box_says_what_the_box_says() -> None:
    word = opened(documents.text_boxes())
    box = next(one for one in editable(word).values() if one.kind == "text box")

    applied(word, EditNode(node_id=box.children[0].id, text="Zum Beispiel"))
    assert xml(word).count("Zum Beispiel") == 2
    applied(word, EditNode(node_id=box.id, text="One\nTwo"))

    assert xml(word).count(">One<") == xml(word).count(">Two<") == 2
    assert_sound(word)


def test_a_header_whose_root_knows_no_ids_is_written_all_the_same() -> None:
    files = parts(documents.headers_and_footers())
    header = next(one.id for one in editable(opened(documents.headers_and_footers())).values() if one.kind == "header")
    name = f"word/{header}.xml"
    files[name] = re.sub(rb' (xmlns:(w14|mc)|mc:Ignorable)="[^"]*"', b"", files[name])
    word = opened(documents.zipped(files))

    applied(word, EditNode(node_id=header, content="Another header", discard=True))

    assert content(word, header) == "Another header"
    assert_sound(word)
