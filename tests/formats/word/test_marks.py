"""Notes, links and bookmarks: put at a text, and taken away, with everything around them as it was."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.bookmark import SetBookmark
from officeplane.edits.contract import Result
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.footnote import AddFootnote
from officeplane.edits.link import SetLink
from officeplane.formats.reading.showing import NodeWanted, node
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import MAIN, W, applied, assert_sound, opened, parts, written, xml

RELS = "word/_rels/document.xml.rels"


def text_id(word: Word, text: str) -> str:
    return next(one.id for one in word.reader().tree.by_id.values() if one.text == text)


def content(word: Word, node_id: str) -> str:
    reader = word.reader()
    return reader.content(reader.tree.by_id[node_id]) or ""


def form(word: Word, node_id: str) -> Any:
    return node(word.reader(), NodeWanted(node_id, form=True)).node["format"]


def noted(word: Word, **payload: Any) -> Result:
    result = applied(word, AddFootnote.model_validate(payload))
    assert_sound(word)
    assert word.finder().find(result["id"])
    return result


def linked(word: Word, **payload: Any) -> Result:
    before = word.text()
    result = applied(word, SetLink.model_validate(payload))
    assert_sound(word)
    assert word.text() == before
    return result


def bookmarked(word: Word, **payload: Any) -> Result:
    before = word.text()
    result = applied(word, SetBookmark.model_validate(payload))
    assert_sound(word)
    assert word.text() == before
    return result


def test_the_first_note_brings_all_that_notes_need() -> None:
    word = opened(documents.document(documents.text("It is due soon.") + documents.text("Else.")))
    paragraph = text_id(word, "It is due soon.")

    made = noted(word, nodeId=paragraph, find="due", text="On the first.\nOr the second.")

    assert made["id"] == "footnote-1"
    assert content(word, paragraph) == "It is due[^1] soon."
    assert content(word, "footnote-1") == "&#32;On the first.\n\nOr the second."
    notes = parts(written(word))["word/footnotes.xml"].decode()
    assert notes.index('w:type="separator"') < notes.index('w:type="continuationSeparator"') < notes.index('w:id="1"')
    styles = parts(written(word))["word/styles.xml"].decode()
    assert 'w:val="footnote text"' in styles
    assert 'w:val="footnote reference"' in styles


def test_a_note_joins_those_that_are_there_and_can_be_deleted() -> None:
    word = opened(documents.footnotes())
    before = word.text()

    assert noted(word, nodeId=text_id(word, "Last"), text="More")["id"] == "footnote-2"
    assert noted(word, nodeId=text_id(word, "Last"), text="Most", endnote=True)["id"] == "endnote-2"
    assert content(word, text_id(word, "Last")) == "Last[^e1][^2][^e2]"
    applied(word, DeleteNode(node_id="footnote-2"), DeleteNode(node_id="endnote-2"))

    assert word.text() == before


def test_settings_name_the_lines_above_the_notes_before_what_has_to_follow() -> None:
    settings = "<w:zoom w:percent='100'/><w:defaultTabStop w:val='720'/><w:compat/><w:decimalSymbol w:val=','/>"
    data = documents.document(documents.text("a"), parts={"rIdSet": ("settings", settings)})
    word = opened(data)

    noted(word, nodeId=text_id(word, "a"), text="n")
    noted(word, nodeId=text_id(word, "a"), text="n", endnote=True)

    names = [one.tag.rpartition("}")[2] for one in word.package.tree("word/settings.xml") if isinstance(one.tag, str)]
    assert names == ["zoom", "defaultTabStop", "footnotePr", "endnotePr", "compat", "decimalSymbol"]


def test_a_note_stands_behind_a_link_and_not_in_it() -> None:
    word = opened(documents.document(documents.text("See the terms here.")))
    paragraph = text_id(word, "See the terms here.")
    linked(word, nodeId=paragraph, find="terms", to={"url": "https://example.org/"})

    noted(word, nodeId=paragraph, find="terms", text="n")

    assert content(word, paragraph) == "See the [terms](https://example.org/)[^1] here."


def test_notes_stand_in_the_text_itself() -> None:
    word = opened(documents.headers_and_footers())
    with pytest.raises(InvalidEditError, match="beside the text"):
        noted(word, nodeId="header2", text="n")
    word = opened(documents.text_boxes())
    with pytest.raises(InvalidEditError, match="text box"):
        noted(word, nodeId=text_id(word, "in the box"), text="n")
    word = opened(documents.fields_and_links())
    with pytest.raises(InvalidEditError, match="in a field"):
        noted(word, nodeId=text_id(word, "Alpha\u20261"), find="Alpha", text="n")
    with pytest.raises(InvalidEditError, match="does not stand"):
        noted(word, nodeId=text_id(word, "Alpha\u20261"), find="Omega", text="n")


def test_a_text_leads_to_an_address_and_no_more() -> None:
    word = opened(
        documents.document(documents.paragraph(documents.run("See the ") + documents.run("terms of use", "<w:b/>")))
    )
    paragraph = text_id(word, "See the terms of use")

    linked(word, nodeId=paragraph, find="the terms", to={"url": "https://example.org/a b"})
    assert _linked(word) == ["the terms"]
    assert "https://example.org/a%20b" in content(word, paragraph)
    linked(word, nodeId=paragraph, find="terms", to=None)
    assert _linked(word) == ["the "]
    linked(word, nodeId=paragraph, to=None)

    assert _linked(word) == []
    assert "example.org" not in xml(word, RELS)
    assert "Hyperlink" not in xml(word)


def _linked(word: Word) -> list[str]:
    links = word.package.tree(MAIN).iter(f"{W}hyperlink")
    return ["".join(text.text or "" for text in link.iter(f"{W}t")) for link in links]


def test_part_of_a_link_leads_elsewhere_and_the_rest_where_it_did() -> None:
    word = opened(documents.document(documents.text("one two three")))
    paragraph = text_id(word, "one two three")

    linked(word, nodeId=paragraph, to={"url": "https://example.org/all"})
    linked(word, nodeId=paragraph, find="two", to={"url": "mailto:ann@example.org"})

    assert content(word, paragraph) == (
        "[one](https://example.org/all) [two](mailto:ann@example.org) [three](https://example.org/all)"
    )


def test_the_nth_is_linked_and_a_text_that_is_not_there_refused() -> None:
    word = opened(documents.document(documents.text("a b a")))
    paragraph = text_id(word, "a b a")

    linked(word, nodeId=paragraph, find="a", nth=2, to={"url": "https://example.org/"})

    assert content(word, paragraph) == "a b [a](https://example.org/)"
    for payload, told in (
        ({"find": "a", "nth": 3, "to": None}, "does not stand 3 times"),
        ({"find": "b", "to": None}, "no link"),
        ({"find": "b", "to": {"url": "file:///etc/passwd"}}, "https or mailto"),
        ({"find": "b", "to": {"nodeId": "p-00000000"}}, "p-00000000"),
    ):
        with pytest.raises(InvalidEditError, match=told):
            linked(word, nodeId=paragraph, **payload)


def test_a_link_leads_to_a_node_and_uses_the_bookmark_there_is() -> None:
    word = opened(documents.chapters())
    paragraph, chapter = text_id(word, "Alpha says hello."), text_id(word, "Beta")

    linked(word, nodeId=paragraph, find="hello", to={"nodeId": chapter})
    linked(word, nodeId=paragraph, find="Alpha", to={"nodeId": chapter})

    links = form(word, paragraph)["links"]
    assert [one["text"] for one in links] == ["Alpha", "hello"]
    assert len({one["bookmark"] for one in links}) == 1
    assert xml(word).count(f'w:name="{links[0]["bookmark"]}"') == 1
    linked(word, nodeId=paragraph, to=None)
    assert "links" not in form(word, paragraph)


def test_a_link_in_a_header_has_its_address_there() -> None:
    word = opened(documents.headers_and_footers())

    linked(word, nodeId=text_id(word, "ACME in the header"), find="ACME", to={"url": "https://example.org/acme"})

    assert b"example.org/acme" in parts(written(word))["word/_rels/header2.xml.rels"]


def test_what_others_inserted_under_tracked_changes_is_no_link_of_ours() -> None:
    word = opened(documents.tracked_changes())
    paragraph = text_id(word, "Hello brave world")

    with pytest.raises(InvalidEditError, match="tracked insertion"):
        linked(word, nodeId=paragraph, find="brave", to={"url": "https://example.org/"})
    linked(opened(documents.tracked_changes()), nodeId=paragraph, find="world", to={"url": "https://example.org/"})


def test_a_link_that_is_a_field_goes_as_a_whole() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r>'
        '<w:instrText> HYPERLINK "https://example.org/" </w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{documents.run("two words")}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    data = documents.document(documents.paragraph(documents.run("say ") + field))
    word = opened(data)
    paragraph = text_id(word, "say two words")

    with pytest.raises(InvalidEditError, match="part of a link that is a field"):
        linked(word, nodeId=paragraph, find="two", to=None)
    word = opened(data)
    linked(word, nodeId=paragraph, find="two words", to={"url": "https://example.org/other"})

    assert content(word, paragraph) == "say [two words](https://example.org/other)"
    assert "fldChar" not in xml(word)


def test_a_bookmark_has_one_name_and_goes_again() -> None:
    word = opened(documents.chapters())
    base = word.text()

    bookmarked(word, nodeId=text_id(word, "Alpha one"), name="Übersicht_1")
    assert form(word, text_id(word, "Alpha one"))["bookmarks"] == ["Übersicht_1"]
    with pytest.raises(InvalidEditError, match="there is a bookmark 'Übersicht_1' already"):
        bookmarked(word, nodeId=text_id(word, "Beta"), name="übersicht_1")
    with pytest.raises(InvalidEditError, match="did you mean 'Übersicht_1'"):
        bookmarked(word, delete="Übersicht")
    gone = bookmarked(word, delete="Übersicht_1")

    assert gone == {"id": text_id(word, "Alpha one"), "name": "Übersicht_1"}
    assert "bookmarks" not in form(word, text_id(word, "Alpha one"))
    assert word.text() == base


def test_who_deletes_a_bookmark_is_told_what_leads_there() -> None:
    word = opened(documents.chapters())
    chapter = text_id(word, "Beta")
    bookmarked(word, nodeId=chapter, name="beta")
    linked(word, nodeId=text_id(word, "Alpha says hello."), find="hello", to={"nodeId": chapter})

    gone = bookmarked(word, delete="beta")

    assert gone["warnings"] == [
        {
            "code": "reference_lost",
            "nodeId": chapter,
            "detail": "the link 'hello' led to the bookmark 'beta', and leads nowhere now",
        }
    ]


def test_a_table_and_a_page_are_bookmarked_from_their_first_to_their_last_paragraph() -> None:
    word = opened(documents.nested_tables())
    table = next(one.id for one in word.reader().tree.by_id.values() if one.kind == "table")

    bookmarked(word, nodeId=table, name="figures")

    root = word.package.tree(MAIN)
    (begin,) = [one for one in root.iter(f"{W}bookmarkStart") if one.get(f"{W}name") == "figures"]
    (end,) = [one for one in root.iter(f"{W}bookmarkEnd") if one.get(f"{W}id") == begin.get(f"{W}id")]
    said = ["".join(next(one.iterancestors(f"{W}p")).itertext()) for one in (begin, end)]
    assert said == ["Name", "after the inner one"]


def test_a_number_of_occurrences_wants_a_text_to_count() -> None:
    for edit, more in ((AddFootnote, {"text": "n"}), (SetLink, {"to": None})):
        with pytest.raises(ValueError, match="nth counts occurrences of find"):
            edit.model_validate({"nodeId": "p-1", "nth": 2, **more})


@pytest.mark.parametrize("name", ["", "1a", "_hidden", "a b", "a" * 41, "a-b"])
def test_names_that_word_does_not_take_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        SetBookmark.model_validate({"nodeId": "p-1", "name": name})


@given(st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=5), st.data())
def test_a_link_is_just_around_the_letters_and_goes_without_a_trace(runs: list[str], data: st.DataObject) -> None:
    text = "".join(runs)
    begin = data.draw(st.integers(0, len(text) - 1))
    find = text[begin : data.draw(st.integers(begin + 1, len(text)))]
    word = opened(documents.document(documents.paragraph("".join(map(documents.run, runs)))))
    paragraph = text_id(word, text)

    linked(word, nodeId=paragraph, find=find, to={"url": "https://example.org/"})
    assert _linked(word) == [find]
    linked(word, nodeId=paragraph, find=find, to=None)

    assert _linked(word) == []
    assert word.text().strip() == text
