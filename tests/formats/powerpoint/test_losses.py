"""What an edit of a presentation would destroy without naming it is refused, or told."""

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Edit
from officeplane.edits.delete_page import DeletePage
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.edits.edit_page import EditPage
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.set_notes import SetNotes
from officeplane.edits.write_page import WritePage
from officeplane.formats.diff import difference
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import A, applied, opened, slides_of, written

TABLE = "| a |\n|---|\n| 1 |\n"
LINK = "https://example.org/hidden"
LOSSES: list[tuple[powerpoint.Maker, Edit, list[str]]] = [
    (powerpoint.rich, EditSlide(slide_id="slide-256", title="x"), ["field 'datetime1'"]),
    (powerpoint.rich, EditSlide(slide_id="slide-256", body="x"),
     [f"link '{LINK}'", "formula", "animation 'of paragraph 3'"]),
    (powerpoint.rich, EditPage(page_id="slide-256", content=f"# x\n\none\n\ntwo\n\n{TABLE}"),
     ["field 'datetime1'", f"link '{LINK}'", "formula", "animation 'of paragraph 3'"]),
    (powerpoint.rich, EditSlide(slide_id="slide-256", body=TABLE),
     [f"link '{LINK}'", "formula", "animation (2 times)"]),
    (powerpoint.rich, EditPage(page_id="slide-257", content=TABLE), ["table 'By hand'"]),
    (powerpoint.tables, EditSlide(slide_id="slide-256", body=TABLE), ["table 'r0c0 r0c1 r0c2'"]),
    (powerpoint.linked, EditSlide(slide_id="slide-256", body="x"), ["link 'https://example.org/'"]),
    (powerpoint.split_runs, EditPage(page_id="slide-256", content="x"), ["field 'slidenum'"]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "edit", "lost"), LOSSES)
def test_other_content_for_a_slide_is_refused_when_it_would_destroy_what_no_text_shows(
    make: powerpoint.Maker, edit: Edit, lost: list[str]
) -> None:
    with pytest.raises(InvalidEditError, match='say "discard": true') as refused:
        applied(opened(make()), edit)

    named = str(refused.value).removeprefix("it would destroy what it does not name: ").partition("; to do it")[0]
    assert [one.rpartition(" in slide-")[0] for one in named.split(", ")] == lost


@pytest.mark.parametrize(("make", "edit", "lost"), LOSSES)
def test_what_was_meant_to_be_destroyed_is_told(make: powerpoint.Maker, edit: Edit, lost: list[str]) -> None:
    deck = opened(make())
    result = applied(deck, edit.model_copy(update={"discard": True}))

    assert [warning["detail"] for warning in result["warnings"]] == lost
    assert {(warning["code"], warning["nodeId"]) for warning in result["warnings"]} == {("lost", result["id"])}
    assert written(deck)


def test_what_stays_or_can_be_read_is_no_reason() -> None:
    deck = opened(powerpoint.rich())

    result = applied(
        deck,
        EditSlide(slide_id="slide-257", title="Other", body="beside the video"),
        EditSlide(slide_id="slide-256", body=f"one\n\ntwo\n\n[here]({LINK})", discard=True),
    )

    assert [warning["detail"] for warning in result["warnings"]] == ["formula"]
    assert "Other\n[video]\nBy hand\nbeside the video" in opened(written(deck)).text()
    for make in (powerpoint.commented, powerpoint.animated, powerpoint.illustrated):
        assert "warnings" not in applied(opened(make()), EditPage(page_id="slide-256", content="# Other\n\nBody"))


def test_a_slide_that_was_written_here_is_replaced_without_a_question() -> None:
    deck = opened(powerpoint.tables())
    content = f"# Title\n\n- a **list** and a [link](https://example.com)\n\n{TABLE}"
    page = applied(deck, WritePage(content=content))["id"]

    assert applied(deck, EditPage(page_id=page, content=content)) == {"id": page}
    assert applied(deck, EditPage(page_id="slide-256", content=content, discard=True))["warnings"]
    assert applied(deck, EditPage(page_id="slide-256", content=content)) == {"id": "slide-256"}


def test_other_notes_are_refused_when_these_have_a_link_that_cannot_be_read() -> None:
    first, second = (opened(powerpoint.with_notes()) for _ in range(2))
    for deck in (first, second):
        root = deck.package.tree("ppt/notesSlides/notesSlide1.xml")
        form = next(root.iter(f"{A}r")).makeelement(f"{A}rPr")
        form.append(form.makeelement(f"{A}hlinkClick", {"action": "ppaction://hlinkshowjump?jump=nextslide"}))
        next(root.iter(f"{A}r")).insert(0, form)

    with pytest.raises(InvalidEditError, match=r"jump in slide-257\.notes; "):
        applied(first, SetNotes(slide_id="slide-257", notes="Other"))
    result = applied(second, SetNotes(slide_id="slide-257", notes="Other", discard=True))

    assert result["warnings"] == [{"code": "lost", "nodeId": "slide-257.notes", "detail": "jump"}]


@pytest.mark.parametrize(
    ("make", "slide", "lost"),
    [
        (powerpoint.illustrated, "slide-256", [("slide-256", "chart 'Chart 2'"), ("slide-256", "picture 'image.png'")]),
        (powerpoint.with_notes, "slide-257", [("slide-257", "notes 'Say this at 1'")]),
        (powerpoint.commented, "slide-256", [("slide-256", "comment 'Really?'")]),
        (powerpoint.rich, "slide-257", [("slide-257", "video 'movie.mp4'")]),
        (
            powerpoint.linked,
            "slide-257",
            [("slide-256", "link to slide-257"), (None, "slide-257 in a custom show")],
        ),
        (powerpoint.tables, "slide-256", []),
    ],
)
def test_a_deletion_tells_what_went_with_the_slide(
    make: powerpoint.Maker, slide: str, lost: list[tuple[str | None, str]]
) -> None:
    deleted = applied(opened(make()), DeleteSlide(slide_id=slide))

    told = deleted.get("warnings", [])
    assert [(warning.get("nodeId"), warning["detail"]) for warning in told] == lost
    assert applied(opened(make()), DeletePage(page_id=slide)) == deleted


def test_the_outline_marks_what_stands_on_a_slide_and_in_its_texts() -> None:
    first, second = slides_of(opened(powerpoint.rich()))

    assert first.marks == {"field": 1, "animation": 2}
    assert [child.marks for child in first.children] == [{"formula": 1, "link": 1}]
    assert second.marks == {"video": 1, "table": 1, "animation": 1}
    assert [child.kind for child in second.children] == ["video", "table"]
    assert slides_of(opened(powerpoint.commented()))[0].marks == {"comment": 1}
    assert slides_of(opened(powerpoint.plain()))[0].marks == {}


def test_the_text_has_a_mark_where_something_lies_that_is_no_text() -> None:
    assert opened(powerpoint.illustrated()).text() == "Chart\n[chart]\n[picture]\nPicture\n[picture]"
    assert opened(powerpoint.rich()).text().endswith("Seen\n[video]\nBy hand")


def test_a_comparison_shows_that_a_chart_went() -> None:
    before, after = opened(powerpoint.illustrated()), opened(powerpoint.illustrated())
    applied(after, DeleteSlide(slide_id="slide-256"))

    assert "-[chart]" in difference(before, after)["text"]
