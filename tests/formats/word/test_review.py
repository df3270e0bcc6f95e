"""Tracked changes: accepted they are the text, rejected what was before is."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.review_changes import ReviewChanges
from officeplane.formats.reading.listing import ListWanted, listed
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import W, applied, assert_sound, opened, written

ADA = 'w:author="Ada" w:date="2026-01-02T03:04:05Z"'
BOB = 'w:author="Bob" w:date="2026-01-02T03:04:05Z"'


def inserted(number: int, words: str, who: str = ADA) -> str:
    return f'<w:ins w:id="{number}" {who}>{documents.run(words)}</w:ins>'


def deleted(number: int, words: str, who: str = ADA) -> str:
    return f'<w:del w:id="{number}" {who}><w:r><w:delText xml:space="preserve">{words}</w:delText></w:r></w:del>'


def marked(change: str) -> str:
    return f"<w:rPr>{change}</w:rPr>"


def row(words: str, change: str = "") -> str:
    cells = documents.cell(documents.text(words)) + documents.cell(documents.text("x"))
    return f"<w:tr><w:trPr>{change}</w:trPr>{cells}</w:tr>"


def table(*rows: str) -> str:
    grid = '<w:gridCol w:w="2000"/>' * 2
    return f"<w:tbl><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{''.join(rows)}</w:tbl>"


def changes(word: Word) -> list[str]:
    return [str(item["id"]) for item in listed(word.reader(), ListWanted("changes")).items]


def settled(data: bytes, **payload: object) -> Word:
    word = opened(data)
    applied(word, ReviewChanges.model_validate(payload))
    assert_sound(word)
    return word


def test_all_are_accepted_or_all_are_rejected() -> None:
    accepted = settled(documents.tracked_changes(), accept=True)
    rejected = settled(documents.tracked_changes(), reject=True)

    assert accepted.text() == "Hello brave world\nstays\nmoved words\nbold now\njoinedend"
    assert rejected.text() == "Hello cruel world\nmoved wordsstays\n\nbold now\njoined\nend"
    for word in (accepted, rejected):
        assert changes(word) == []
        assert "move" not in word.package.content("word/document.xml").decode().lower().replace("moved words", "")
    assert b"<w:b/>" in accepted.package.content("word/document.xml")
    assert b"<w:b/>" not in rejected.package.content("word/document.xml")


def test_only_those_of_an_author_or_of_some_ids_are_decided() -> None:
    data = documents.document(
        documents.paragraph(inserted(1, "one ") + inserted(2, "two ", BOB) + deleted(3, "three ", BOB) + "")
        + documents.paragraph(inserted(4, "four", BOB))
    )

    assert settled(data, accept=True, author="Ada").text() == "one two \nfour"
    assert settled(data, reject=True, author="Bob").text() == "one three \n"
    assert settled(data, reject=True, ids=["change-2"]).text() == "one \nfour"
    assert changes(settled(data, accept=True, author="Ada")) == ["change-2", "change-3", "change-4"]


def test_only_those_in_a_node_are_decided() -> None:
    data = documents.document(
        documents.text("x", paragraph_id="0A000001")
        + documents.paragraph(inserted(1, "here"), paragraph_id="0A000002")
        + documents.paragraph(inserted(2, "there"), paragraph_id="0A000003")
    )

    word = settled(data, reject=True, under="p-0a000002")

    assert word.text() == "x\n\nthere"
    assert changes(word) == ["change-2"]


def test_a_text_that_one_inserted_and_another_deleted_has_two_changes() -> None:
    both = documents.document(
        documents.paragraph(documents.run("a") + f'<w:ins w:id="1" {ADA}>{deleted(2, "b", BOB)}</w:ins>')
    )

    assert settled(both, accept=True).text() == "a"
    assert settled(both, reject=True).text() == "a"
    assert settled(both, reject=True, author="Bob").text() == "ab"
    assert settled(both, accept=True, author="Ada").text() == "a"
    assert changes(settled(both, accept=True, author="Ada")) == ["change-2"]


@pytest.mark.parametrize(
    ("payload", "rows"),
    [({"accept": True}, ["a", "c"]), ({"reject": True}, ["a", "b"])],
)
def test_rows_come_and_go(payload: dict[str, object], rows: list[str]) -> None:
    data = documents.document(
        table(row("a"), row("b", f'<w:del w:id="1" {ADA}/>'), row("c", f'<w:ins w:id="2" {ADA}/>'))
        + documents.text("z")
    )
    assert changes(opened(data)) == ["change-1", "change-2"]

    word = settled(data, **payload)

    assert word.text() == "".join(f"{one}\tx\n" for one in rows) + "z"


def test_a_table_of_which_no_row_is_left_goes_and_leaves_no_hole() -> None:
    gone = table(row("b", f'<w:del w:id="1" {ADA}/>'))
    kept = table(row("k"))
    data = documents.document(kept + gone + kept + documents.text("z"))

    assert settled(data, accept=True).text() == "k\tx\n\nk\tx\nz"
    inside = documents.table(documents.cell(gone + documents.text("")), columns=1)
    assert settled(documents.document(inside + documents.text("z")), accept=True).text() == "\nz"


def test_what_others_have_marked_in_a_table_that_goes_stands_in_the_paragraph_behind_it() -> None:
    mark = '<w:bookmarkStart w:id="4" w:name="target"/><w:bookmarkEnd w:id="4"/>'
    gone = table(row("b", f'<w:del w:id="1" {ADA}/>')).replace("</w:p>", f"{mark}</w:p>", 1)

    word = settled(documents.document(documents.text("a") + gone + documents.text("z")), accept=True)

    assert word.text() == "a\nz"
    assert b'w:name="target"' in word.package.content("word/document.xml")


def test_formats_go_back_to_what_they_were_and_keep_what_is_none_of_theirs() -> None:
    was = '<w:pPr><w:jc w:val="center"/></w:pPr>'
    properties = f'<w:jc w:val="right"/><w:rPr><w:i/></w:rPr><w:pPrChange w:id="7" {ADA}>{was}</w:pPrChange>'
    data = documents.document(documents.paragraph(documents.run("words"), properties) + documents.text("z"))

    def of(word: Word) -> tuple[str | None, bool]:
        paragraph = next(word.package.tree("word/document.xml").iter(f"{W}p"))
        aligned = paragraph.find(f"{W}pPr/{W}jc")
        assert aligned is not None
        return aligned.get(f"{W}val"), paragraph.find(f"{W}pPr/{W}rPr/{W}i") is not None

    assert of(settled(data, accept=True)) == ("right", True)
    assert of(settled(data, reject=True)) == ("center", True)


def test_comments_and_bookmarks_outlive_the_text_that_goes() -> None:
    bookmarks = '<w:bookmarkStart w:id="4" w:name="target"/><w:bookmarkEnd w:id="4"/>'
    data = documents.document(
        documents.paragraph(
            documents.run("a") + f'<w:del w:id="1" {ADA}>{bookmarks}<w:r><w:delText>b</w:delText></w:r></w:del>'
        )
    )

    assert b'w:name="target"' in settled(data, accept=True).package.content("word/document.xml")


def test_who_names_what_is_not_there_is_told_what_is() -> None:
    data = documents.tracked_changes()

    with pytest.raises(InvalidEditError, match="there are changes by 'Ada'"):
        settled(data, accept=True, author="ada")
    with pytest.raises(InvalidEditError, match="did you mean 'change-1'"):
        settled(data, accept=True, ids=["change_1"])
    with pytest.raises(InvalidEditError, match="no tracked change to review"):
        settled(documents.chapters(), accept=True)


def test_a_section_that_ends_with_a_deleted_paragraph_is_told_of() -> None:
    section = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>'
    mark = f'<w:rPr><w:del w:id="1" {ADA}/></w:rPr>{section}'
    word = opened(documents.document(documents.paragraph(documents.run("a"), mark) + documents.text("b")))

    result = applied(word, ReviewChanges(accept=True))

    assert word.text() == "ab"
    assert [one["detail"] for one in result["warnings"]] == ["section break"]


_PIECES = st.lists(st.tuples(st.sampled_from(("kept", "ins", "del")), st.sampled_from("abc")), max_size=3)
_PARAGRAPHS = st.lists(st.tuples(_PIECES, st.sampled_from(("kept", "ins", "del"))), min_size=1, max_size=6)
_Paragraphs = Sequence[tuple[Sequence[tuple[str, str]], str]]


def model(paragraphs: _Paragraphs, gone: str) -> str:
    """Return what is left when the ones or the others are gone, with the paragraph behind that nobody changed."""
    text = ""
    for pieces, mark in paragraphs:
        text += "".join(letter for kind, letter in pieces if kind != gone)
        text += "" if mark == gone else "\n"
    return text + "end"


@given(_PARAGRAPHS)
def test_what_is_left_is_what_a_model_says(paragraphs: _Paragraphs) -> None:
    number, body = 0, ""
    for pieces, mark in paragraphs:
        held = ""
        for kind, letter in pieces:
            number += 1
            held += {"kept": documents.run(letter), "ins": inserted(number, letter), "del": deleted(number, letter)}[
                kind
            ]
        number += 1
        body += documents.paragraph(held, "" if mark == "kept" else marked(f'<w:{mark} w:id="{number}" {ADA}/>'))
    data = documents.document(body + documents.text("end"))
    assume(changes(opened(data)))

    for payload, gone in (({"accept": True}, "del"), ({"reject": True}, "ins")):
        word = settled(data, **payload)
        assert word.text() == model(paragraphs, gone)
        assert changes(word) == []
        assert opened(written(word)).text() == word.text()
