"""What an edit of a Word document would destroy without naming it is refused, or told."""

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.delete_page import DeletePage
from officeplane.edits.edit_page import EditPage
from officeplane.edits.write_page import WritePage
from officeplane.formats.diff import difference
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, assert_sound, node, nodes, opened, reopened, xml


def page_of(data: bytes, words: str) -> str:
    """Return the id of the first page that says this among other things."""
    return next(one.id for one in nodes(opened(data).outline()) if one.kind == "page" and words in one.text)


LOSSES = [
    (documents.pictures, "before", ["picture 'Picture 1'", "picture 'Picture 2'"]),
    (documents.fields_and_links, "Beta", ["table of contents"]),
    (documents.fields_and_links, "See", ["field 'AUTHOR'", "formula"]),
    (documents.footnotes, "goes on", ["footnote", "endnote"]),
    (documents.content_controls, "held", ["content control 'A'", "content control (2 times)"]),
    (documents.tracked_changes, "", ["tracked change"]),
    (documents.text_boxes, "", ["text box"]),
    (documents.charts_and_breaks, "Figures", ["chart 'Sales'", "diagram 'Who reports to whom'", "page break (2 times)",
                                              "column break", "phonetic guide"]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "words", "lost"), LOSSES, ids=[" and ".join(lost) for _, _, lost in LOSSES])
def test_other_content_for_a_page_is_refused_when_it_would_destroy_what_no_text_shows(
    make: documents.Make, words: str, lost: list[str]
) -> None:
    page = page_of(make(), words)

    with pytest.raises(InvalidEditError) as refused:
        applied(opened(make()), EditPage(page_id=page, content="other"))

    assert [what for what in lost if what not in str(refused.value)] == []
    assert page in str(refused.value)
    assert '"discard": true' in str(refused.value)


@pytest.mark.parametrize(("make", "words", "lost"), LOSSES, ids=[" and ".join(lost) for _, _, lost in LOSSES])
def test_what_was_meant_to_be_destroyed_is_told(make: documents.Make, words: str, lost: list[str]) -> None:
    page = page_of(make(), words)

    edited = applied(opened(make()), EditPage(page_id=page, content="other", discard=True))
    deleted = applied(opened(make()), DeletePage(page_id=page))

    assert edited["warnings"] == deleted["warnings"]
    told = [warning["detail"] for warning in edited["warnings"]]
    assert [what for what in lost if not any(one.startswith(what) for one in told)] == []
    assert {(warning["code"], warning["nodeId"]) for warning in edited["warnings"]} == {("lost", page)}


def test_the_outline_marks_what_stands_in_a_page_and_leaves_its_text_alone() -> None:
    drawn, breaks = node(opened(documents.pictures()), "before  after\n\tbeside"), opened(documents.papers())

    assert drawn.marks == {"picture": 2}
    assert node(breaks, "The last upright words").marks == {"section break": 1}
    assert node(opened(documents.fields_and_links()), "Alpha\u20261\nBeta\u20262").marks == {"table of contents": 1}
    assert node(opened(documents.chapters()), "Front matter").marks == {}


def test_the_text_has_a_mark_where_something_stands_that_is_no_text() -> None:
    assert opened(documents.pictures()).text().split("\n") == ["Seen", "before  after [picture]", "[picture]\tbeside"]
    assert opened(documents.charts_and_breaks()).text().split("\n") == [
        "Drawn", "Figures  [chart]", "[diagram]", "[page break]", "[page break] on a page of its own", "not on one",
        "left", "right", " [column break]", "東京",
    ]  # fmt: skip
    assert opened(documents.fields_and_links()).text().startswith("Alpha\u20261 [table of contents]\nBeta\u20262\n")
    assert "Text goes on [footnote]\nLast [endnote]\n" in opened(documents.footnotes()).text()


def test_a_comparison_shows_that_a_picture_went() -> None:
    before, after = opened(documents.pictures()), opened(documents.pictures())
    page = page_of(documents.pictures(), "before")
    applied(after, EditPage(page_id=page, content="before  after\n\n||beside|\n|-|-|", discard=True))

    told = difference(before, after)

    assert "-before  after [picture]" in told["text"]
    assert [one["id"] for one in told["nodes"]["changed"]] == [page]


def test_comments_and_ends_of_sections_outlive_their_page_so_that_nothing_is_asked() -> None:
    commented, papered = opened(documents.comments()), opened(documents.papers())

    for word in (commented, papered):
        for page in [one.id for one in nodes(word.outline()) if one.kind == "page"]:
            assert "warnings" not in applied(word, EditPage(page_id=page, content="other"))
        assert_sound(word)

    assert len(list(reopened(papered).sections)) == 3
    assert xml(commented).count("commentReference") == xml(opened(documents.comments())).count("commentReference")


def test_a_page_that_was_written_here_is_replaced_without_a_question() -> None:
    word = opened(documents.chapters())
    content = "# Title\n\n- a **list**\n\n|a|\n|-|\n|b|\n\n---\n\n[link](https://example.com)"
    page = applied(word, WritePage(content=content))["id"]

    assert applied(word, EditPage(page_id=page, content=content)) == {"id": page}


def test_what_content_cannot_bring_along_is_told() -> None:
    result = applied(opened(documents.chapters()), WritePage(content="![Our logo](logo.png)"))

    (warning,) = result["warnings"]
    assert warning["code"] == "not_kept"
    assert "'logo.png'" in warning["detail"]
