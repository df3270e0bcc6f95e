import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.fill_template import FillTemplate
from officeplane.edits.replace_text import ReplaceText
from officeplane.formats.powerpoint.paragraphs import replace as replace_found
from officeplane.formats.powerpoint.paragraphs import searchable, text_of
from officeplane.formats.search import Wanted
from officeplane.formats.xml import Element, is_storable, parse
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import A, applied, differing, occasion, opened, reopened, written

STORABLE = st.text().filter(is_storable)


def paragraph(*runs: str) -> Element:
    """Return a paragraph; a run `|` is a break and `#` a field."""
    inner = "".join(
        "<a:br/>"
        if run == "|"
        else "<a:fld id='{}'><a:t>7</a:t></a:fld>"
        if run == "#"
        else f"<a:r><a:t>{run}</a:t></a:r>"
        for run in runs
    )
    return parse(f'<a:p xmlns:a="{A[1:-1]}">{inner}<a:endParaRPr/></a:p>'.encode())


def replace(element: Element, wanted: Wanted, by: str) -> int:
    found = wanted.finder()(searchable(element))
    replace_found(element, found, wanted.replacing(by)(found))
    return len(found)


def runs(element: Element) -> list[str]:
    return [child.findtext(f"{A}t") or "|" for child in element if child.tag != f"{A}endParaRPr"]


def test_a_text_split_over_runs_is_replaced_in_the_formatting_it_begins_in() -> None:
    deck = opened(powerpoint.split_runs())

    result = applied(deck, ReplaceText(find="Hello world", replace="Goodbye"))

    title = reopened(written(deck)).slides[0].shapes.title.text_frame.paragraphs[0]
    assert [(run.text, run.font.bold) for run in title.runs] == [("Goodbye", True)]
    assert str(title.alignment) == "RIGHT (3)"
    assert result == {"id": "slide-256", "replaced": 1, "ids": ["slide-256"]}


def test_what_stands_around_a_replaced_text_keeps_its_runs() -> None:
    before = paragraph("He", "llo w", "orld")

    count = replace(before, Wanted("lo wo"), "LO")

    assert count == 1
    assert runs(before) == ["He", "lLO", "rld"]


def test_several_places_of_one_paragraph_are_replaced_also_where_they_touch() -> None:
    before = paragraph("ab", "abab", "c")

    count = replace(before, Wanted("ab"), "x")

    assert count == 3
    assert runs(before) == ["x", "xx", "c"]


def test_a_replacement_with_lines_makes_breaks() -> None:
    before = paragraph("one two three")

    replace(before, Wanted("two"), "2\r\n3")

    assert text_of(before) == "one 2\n3 three"
    assert runs(before) == ["one 2", "|", "3 three"]


def test_a_break_can_be_part_of_what_is_replaced() -> None:
    before = paragraph("one", "|", "two")

    replace(before, Wanted("e\nt"), "-")

    assert runs(before) == ["on-", "wo"]


def test_no_text_is_found_across_a_field() -> None:
    before = paragraph("Page ", "#", " of 9")

    assert replace(before, Wanted("Page 7"), "x") == 0
    assert text_of(before) == "Page 7 of 9"


def test_a_paragraph_that_loses_all_its_text_keeps_an_empty_run() -> None:
    before = paragraph("a", "b")

    replace(before, Wanted("ab"), "")

    assert [child.tag for child in before] == [f"{A}r", f"{A}endParaRPr"]


@settings(deadline=None)
@given(
    st.lists(st.text("ab|", min_size=0, max_size=4), max_size=5),
    st.text("ab", min_size=1, max_size=3),
    st.text("abc\n"),
)
def test_runs_say_what_replacing_in_the_whole_text_says(texts: list[str], find: str, by: str) -> None:
    before = paragraph(*(text if set(text) != {"|"} else "|" for text in (t.replace("|", "") or "|" for t in texts)))
    whole = searchable(before)

    count = replace(before, Wanted(find), by)

    assert text_of(before) == whole.replace(find, by)
    assert count == whole.count(find)


def test_groups_tables_and_what_older_programs_show_are_searched() -> None:
    deck = opened(powerpoint.grouped())

    result = applied(deck, ReplaceText(find="needle", replace="pin", expected_count=3))

    assert result["replaced"] == 3
    assert b"needle" not in deck.package.content("ppt/slides/slide1.xml")
    assert deck.text() == "Groups\npin outside\npin inside\n[picture]\npin in both"


def test_merged_cells_are_searched() -> None:
    deck = opened(powerpoint.tables())

    applied(deck, ReplaceText(find="R2C0", replace="last", match_case=False))

    table = reopened(written(deck)).slides[0].shapes[2].table
    assert table.cell(2, 0).text == "last"
    assert table.cell(2, 0).text_frame.paragraphs[0].runs[0].font.bold is True
    assert table.cell(0, 0).is_merge_origin


def test_notes_are_searched_and_only_the_part_that_held_the_text_changes() -> None:
    original = powerpoint.with_notes()
    deck = opened(original)

    result = applied(deck, ReplaceText(find="Say this at 2", replace="Hush"))

    assert result["id"] == "slide-258"
    assert differing(original, written(deck)) == {"ppt/notesSlides/notesSlide2.xml"}


def test_places_are_told_before_and_after_as_they_are() -> None:
    deck = opened(powerpoint.many(3))
    wanted = Wanted("of the story")

    assert deck.places_of(wanted) == [f"slide-{256 + number}" for number in range(3) for _ in range(6)]

    deck.replace_text(Wanted("Point 1.3 of the story"), "gone")

    assert deck.places_of(wanted).count("slide-257") == 5


def test_a_text_that_stands_nowhere_is_an_error_unless_none_is_expected() -> None:
    deck = opened(powerpoint.plain())

    with pytest.raises(InvalidEditError, match="does not stand in it"):
        applied(deck, ReplaceText(find="nowhere", replace=""))
    with pytest.raises(InvalidEditError, match="stands 1 times in it, not 2"):
        applied(deck, ReplaceText(find="Flat", replace="x", expected_count=2))
    assert applied(deck, ReplaceText(find="nowhere", replace="", expected_count=0))["id"] is None


def test_a_template_is_filled_also_where_a_name_is_split() -> None:
    deck = opened(powerpoint.split_runs())

    result = applied(deck, FillTemplate(values={"name": "Ada"}))

    assert result == {"id": "slide-256", "filled": {"name": 2}, "ids": ["slide-256"]}
    assert "Dear Ada, Ada!" in opened(written(deck)).text()


@settings(max_examples=60, deadline=None)
@given(STORABLE, STORABLE)
def test_any_text_survives_in_titles_and_notes(title: str, notes: str) -> None:
    deck = opened(_EMPTY)
    one_line = " ".join(title.split("\n")).replace("\r", " ") or "x"

    AddSlide(title=one_line, notes=notes).apply(deck, occasion())

    slide = reopened(deck.package.write().content()).slides[0]
    assert slide.shapes.title.text_frame.text == one_line
    assert slide.notes_slide.notes_text_frame.text == notes.replace("\r\n", "\n").replace("\r", "\n")


@settings(max_examples=60, deadline=None)
@given(STORABLE.filter(bool))
def test_any_text_can_be_put_and_found_again(text: str) -> None:
    deck = opened(_PLAIN)

    deck.replace_text(Wanted("Flat"), text)

    again = opened(deck.package.write().content())
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    assert f"Costs\n{plain}" in again.text()
    assert "slide-258" in again.places_of(Wanted(plain))


_EMPTY = powerpoint.empty()
_PLAIN = powerpoint.plain()
