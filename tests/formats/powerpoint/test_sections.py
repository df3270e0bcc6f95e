import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_chapter import AddChapter
from officeplane.edits.add_section import AddSection
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.edits.insert_table import InsertTable
from officeplane.edits.move_slide import MoveSlide
from officeplane.edits.write_page import WritePage
from officeplane.formats.powerpoint.presentation import Presentation
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import applied, opened, slides_of, titles, written


def chapters(deck: Presentation) -> dict[str, list[str]]:
    """Return the titles of the slides of each chapter, of the file as it is written."""
    return {chapter.text: [slide.text for slide in chapter.children] for chapter in opened(written(deck)).outline()}


def chapter_id(deck: Presentation, name: str) -> str:
    return next(chapter.id for chapter in deck.outline() if chapter.text == name)


def test_the_first_chapter_gives_the_slides_there_are_one_of_their_own() -> None:
    deck = opened(powerpoint.plain())

    result = applied(deck, AddChapter(title="Outlook"))

    assert chapters(deck) == {"Default Section": ["Quarterly report", "Revenue", "Costs"], "Outlook": []}
    assert result["id"] == chapter_id(deck, "Outlook")


def test_a_chapter_goes_before_the_one_at_its_position() -> None:
    deck = opened(powerpoint.sectioned())

    applied(deck, AddChapter(title="Between", position=1), AddChapter(title="Last", position=4))

    assert list(chapters(deck)) == ["Opening", "Between", "Nothing yet", "Details", "Last"]


def test_slides_of_an_empty_chapter_stand_where_the_chapter_does() -> None:
    deck = opened(powerpoint.sectioned())
    empty = chapter_id(deck, "Nothing yet")

    applied(deck, WritePage(content="# B", section_id=empty), WritePage(content="# A", section_id=empty, position=0))

    assert chapters(deck)["Nothing yet"] == ["A", "B"]
    assert titles(deck) == ["Slide 0", "Slide 1", "A", "B", "Slide 2", "Slide 3", "Slide 4"]


def test_slides_go_to_their_position_in_a_chapter() -> None:
    deck = opened(powerpoint.sectioned())

    applied(deck, WritePage(content="# New", section_id=chapter_id(deck, "Details"), position=1))

    assert chapters(deck)["Details"] == ["Slide 2", "New", "Slide 3", "Slide 4"]


def test_pages_of_a_section_end_before_the_next_section() -> None:
    deck = opened(powerpoint.plain())
    first = applied(deck, AddSection(title="First"))["id"]
    second = applied(deck, AddSection(title="Second"))["id"]

    applied(
        deck,
        WritePage(content="# 1b", section_id=first),
        WritePage(content="# 2", section_id=second),
        WritePage(content="# 1a", section_id=first, position=0),
        InsertTable(rows=[["x"]], section_id=first),
    )

    assert titles(deck)[3:] == ["First", "1a", "1b", "", "Second", "2"]


@pytest.mark.parametrize("make", [powerpoint.sectioned, powerpoint.localised, powerpoint.custom_layouts])
def test_a_section_is_one_in_the_outline_whatever_the_layouts_are(make: powerpoint.Maker) -> None:
    deck = opened(make())

    result = applied(deck, AddSection(title="Chapter and verse", content="What it is about"))

    found = next(slide for slide in slides_of(opened(written(deck))) if slide.id == result["id"])
    assert (found.kind, found.text) == ("section", "Chapter and verse")
    assert [child.text for child in found.children] == ["What it is about"]
    applied(deck, WritePage(content="# Page", section_id=result["id"]))
    assert titles(deck)[-1] == "Page"


def test_a_section_goes_before_the_one_at_its_position_in_the_chapter() -> None:
    deck = opened(powerpoint.sectioned())
    details = chapter_id(deck, "Details")

    applied(
        deck, AddSection(title="Before", chapter_id=details, position=0), AddSection(title="End", chapter_id=details)
    )

    assert chapters(deck)["Details"] == ["Before", "Slide 2", "Slide 3", "Slide 4", "End"]


def test_a_slide_at_the_end_is_in_the_last_chapter() -> None:
    deck = opened(powerpoint.sectioned())

    applied(deck, AddChapter(title="New"), AddSlide(title="In it"))

    assert chapters(deck)["New"] == ["In it"]


@pytest.mark.parametrize(
    ("slide", "position", "chapter"),
    [(256, 4, "Details"), (260, 0, "Opening"), (259, 2, "Details"), (257, 0, "Opening"), (256, 1, "Opening")],
)
def test_a_moved_slide_is_in_the_chapter_of_its_neighbours(slide: int, position: int, chapter: str) -> None:
    deck = opened(powerpoint.sectioned())

    applied(deck, MoveSlide(slide_id=f"slide-{slide}", position=position))

    assert f"Slide {slide - 256}" in chapters(deck)[chapter]
    assert titles(deck)[position] == f"Slide {slide - 256}"


def test_a_deleted_slide_leaves_its_chapter_which_stays() -> None:
    deck = opened(powerpoint.sectioned())

    applied(deck, DeleteSlide(slide_id="slide-256"), DeleteSlide(slide_id="slide-257"))

    assert chapters(deck)["Opening"] == []


def test_slides_that_no_section_lists_are_with_those_before_them_and_new_ones_fit_in() -> None:
    deck = opened(powerpoint.half_sectioned())

    applied(deck, WritePage(content="# New", section_id=chapter_id(deck, "First"), position=1))

    assert chapters(deck) == {"First": ["Slide 0", "New", "Slide 1"], "Second": ["Slide 2", "Slide 3"]}


def test_chapters_have_the_same_id_whenever_the_file_is_read() -> None:
    deck = opened(powerpoint.sectioned())
    before = [node.id for node in deck.outline()]

    applied(deck, AddChapter(title="More", position=0))

    assert [node.id for node in opened(written(deck)).outline()][1:] == before


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (WritePage(content="x", section_id="chapter-none"), "there is no section 'chapter-none'"),
        (WritePage(content="x", section_id="slide-259"), "'slide-259' is a slide, not a section"),
        (AddSection(title="x", chapter_id="slide-256"), "'slide-256' is a slide, not a chapter"),
        (InsertTable(rows=[["x"]], section_id="slide-999"), "there is no section 'slide-999'"),
        (
            DeleteSlide(slide_id="slide-256.3"),
            r"'slide-256\.3' is a text on the slide 'slide-256': give the id of a slide; replace_text",
        ),
        (WritePage(content="x", section_id="slide-256.3"), "is a text on the slide"),
        (DeleteSlide(slide_id="slide-999"), "there is no slide 'slide-999'"),
        (DeleteSlide(slide_id="chapter-00000000-0000-4000-8000-0000000000ab"), "is a chapter, not a slide"),
    ],
)
def test_a_place_that_is_not_there_is_an_error_that_says_so(edit: WritePage, message: str) -> None:
    deck = opened(powerpoint.sectioned())

    with pytest.raises(InvalidEditError, match=message):
        applied(deck, edit)
