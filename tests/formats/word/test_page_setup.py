"""Pages: sections, their paper, and what stands above and below their text."""

from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.page_setup import PageSetup
from officeplane.formats.reading.showing import NodeWanted, node
from officeplane.formats.word.document import Word
from officeplane.formats.xml import Element
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import MAIN, W, applied, assert_sound, occasion, opened, reopened, xml

R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def set_up(word: Word, **payload: Any) -> Result:
    result = applied(word, PageSetup.model_validate(payload))
    assert_sound(word)
    return result


def sections(word: Word) -> list[Element]:
    return [*word.package.tree(MAIN).iter(f"{W}sectPr")]


def paper(section: Element) -> tuple[str | None, str | None, str | None]:
    size = section.find(f"{W}pgSz")
    assert size is not None
    return size.get(f"{W}w"), size.get(f"{W}h"), size.get(f"{W}orient")


def begins(section: Element) -> str | None:
    kind = section.find(f"{W}type")
    return None if kind is None else kind.get(f"{W}val")


def text_id(word: Word, text: str) -> str:
    return next(one.id for one in word.reader().tree.by_id.values() if one.text == text)


def beside(word: Word, kind: str) -> list[str]:
    """Return what each section shows above or below its text."""
    found: list[str] = []
    for section in reopened(word).sections:
        held = section.header if kind == "header" else section.footer
        found.append("\n".join(paragraph.text for paragraph in held.paragraphs))
    return found


UPRIGHT = ("11906", "16838", None)
LYING = ("16838", "11906", "landscape")


def test_a_table_is_turned_on_its_side_by_a_section_of_its_own() -> None:
    word = opened(documents.nested_tables())
    table = [one.id for one in word.reader().tree.by_id.values() if one.kind == "table"][-1]

    set_up(word, nodeId=table, **{"break": "nextPage"}, orientation="landscape")

    assert [paper(one) for one in sections(word)] == [UPRIGHT, LYING]
    assert begins(sections(word)[1]) == "nextPage"
    before = next(one for one in word.package.tree(MAIN).iter(f"{W}p") if "".join(one.itertext()) == "between")
    assert next(before.iter(f"{W}sectPr")) is sections(word)[0]


def test_a_section_in_the_middle_ends_where_the_next_one_begins() -> None:
    word = opened(documents.chapters())

    set_up(word, nodeId=text_id(word, "Alpha two"), **{"break": "nextPage"}, orientation="landscape")
    set_up(word, nodeId=text_id(word, "Beta"), **{"break": "oddPage"}, orientation="portrait", columns=2)

    assert [paper(one) for one in sections(word)] == [UPRIGHT, LYING, UPRIGHT]
    assert [begins(one) for one in sections(word)] == [None, "nextPage", "oddPage"]
    assert [one.find(f"{W}cols") is not None for one in sections(word)] == [False, False, True]


def test_a_break_between_two_tables_stands_in_a_line_of_its_own() -> None:
    row = documents.cell(documents.text("a")) + documents.cell(documents.text("b"))
    word = opened(documents.document(documents.table(row) + documents.text("x")))
    set_up(word, nodeId=text_id(word, "x"), **{"break": "continuous"})

    assert [begins(one) for one in sections(word)] == [None, "continuous"]
    assert "".join(next(sections(word)[0].iterancestors(f"{W}p")).itertext()) == ""


def test_where_a_section_begins_already_its_break_becomes_another() -> None:
    word = opened(documents.papers())

    set_up(word, nodeId=text_id(word, "Wide"), **{"break": "evenPage"}, margins={"left": 36})

    assert [begins(one) for one in sections(word)] == [None, "evenPage", None]
    assert [paper(one) for one in sections(word)] == [UPRIGHT, LYING, UPRIGHT]
    with pytest.raises(InvalidEditError, match="begins the document"):
        set_up(word, nodeId=text_id(word, "Upright"), **{"break": "nextPage"})


def test_a_node_begins_a_page_or_a_column_without_a_section() -> None:
    word = opened(documents.nested_tables())
    table = [one.id for one in word.reader().tree.by_id.values() if one.kind == "table"][-1]

    assert set_up(word, nodeId=text_id(word, "between"), **{"break": "page"})["sections"] == 0
    set_up(word, nodeId=text_id(word, "between"), **{"break": "column"})
    set_up(word, nodeId=table, **{"break": "page"})

    assert len(sections(word)) == 1
    assert xml(word).count("<w:pageBreakBefore/>") == 1
    assert xml(word).count('<w:br w:type="column"/>') == xml(word).count('<w:br w:type="page"/>') == 1
    assert "[page break] \nbetween [column break]\n[page break]\n" in word.text()


def test_what_the_pages_are_now_is_told_and_read_at_the_break() -> None:
    word = opened(documents.chapters())
    upright = {
        "width": 595.3, "height": 841.9, "orientation": "portrait", "columns": 1, "break": "nextPage",
        "margins": {"top": 72, "right": 72, "bottom": 72, "left": 72},
    }  # fmt: skip

    told = set_up(word, nodeId=text_id(word, "Beta"), **{"break": "oddPage"}, orientation="landscape", columns=2)

    lying = {"width": 841.9, "height": 595.3, "orientation": "landscape", "columns": 2, "break": "oddPage"}
    assert told["pages"] == {**upright, **lying}
    (ended,) = [one.id for one in word.reader().tree.by_id.values() if one.kind == "section break"]
    assert node(word.reader(), NodeWanted(ended, form=True)).node["format"] == upright


def test_without_a_node_all_sections_are_set_up() -> None:
    word = opened(documents.papers())

    result = set_up(word, size="Letter", margins={"top": 50, "left": 40.5})

    assert result["sections"] == 3
    assert [paper(one) for one in sections(word)] == [
        ("12240", "15840", None), ("15840", "12240", "landscape"), ("12240", "15840", None),
    ]  # fmt: skip
    margins = [one.find(f"{W}pgMar") for one in sections(word)]
    assert [(one.get(f"{W}top"), one.get(f"{W}left")) for one in margins if one is not None] == [("1000", "810")] * 3


def test_the_header_of_one_section_is_not_that_of_its_neighbours() -> None:
    word = opened(documents.papers())

    made = set_up(word, header="For **all**")
    assert beside(word, "header") == ["For all"] * 3
    assert word.finder().find(made["header"]).kind == "header"
    set_up(word, nodeId=text_id(word, "Wide words"), header="Wide only", footer="Below")

    assert beside(word, "header") == ["For all", "Wide only", "For all"]
    assert beside(word, "footer") == ["", "Below", ""]
    assert [one.text for one in word.outline() if one.kind == "footer"] == ["Below"]


def test_a_header_that_is_taken_away_goes_from_that_section_alone() -> None:
    word = opened(documents.papers())
    set_up(word, header="For all", footer="At the end")

    set_up(word, nodeId=text_id(word, "Wide words"), header=None)
    assert beside(word, "header") == ["For all", "", "For all"]
    gone = set_up(word, header=None)

    assert beside(word, "header") == ["", "", ""]
    assert not [one for one in word.package.names if "header" in one]
    assert beside(word, "footer") == ["At the end"] * 3
    assert "warnings" not in gone


def test_a_field_in_a_header_is_not_destroyed_unsaid() -> None:
    word = opened(documents.headers_and_footers())

    with pytest.raises(InvalidEditError, match=r"field 'PAGE'"):
        set_up(word, footer="Other")
    word.package.rollback()
    set_up(word, footer="Other", discard=True)

    assert beside(word, "footer") == ["Other"]
    word = opened(documents.headers_and_footers())
    assert set_up(word, footer=None)["warnings"] == [{"code": "lost", "nodeId": "footer4", "detail": "field 'PAGE'"}]


def test_first_pages_keep_the_header_that_they_have() -> None:
    word = opened(documents.headers_and_footers())

    set_up(word, header="Other")

    kinds = [one.get(f"{W}type") for one in sections(word)[0].iter(f"{W}headerReference")]
    assert kinds == ["default", "first"]
    assert "ACME first" in "\n".join(one.text for one in word.outline())


def test_page_numbers_are_shown_below_what_the_footer_says() -> None:
    word = opened(documents.papers())
    set_up(word, footer="Confidential")

    set_up(word, nodeId=text_id(word, "Wide"), pageNumbers={"start": 7, "format": "i", "position": "bottom-right"})

    assert beside(word, "footer") == ["Confidential", "Confidential\n1", "Confidential"]
    numbers = [one.find(f"{W}pgNumType") for one in sections(word)]
    assert [None if one is None else (one.get(f"{W}start"), one.get(f"{W}fmt")) for one in numbers] == [
        None, ("7", "lowerRoman"), None,
    ]  # fmt: skip
    again = set_up(word, pageNumbers={"position": "bottom-center"})
    assert beside(word, "footer") == ["Confidential\n1"] * 3
    assert again["sections"] == 3


def test_a_footer_that_shows_a_number_gets_no_second_one() -> None:
    word = opened(documents.headers_and_footers())

    set_up(word, pageNumbers={"position": "bottom-center"})

    assert beside(word, "footer") == ["ACME page 1"]


def test_a_new_section_goes_on_with_header_and_numbers_of_the_one_before() -> None:
    section = '<w:headerReference w:type="default" r:id="rIdH1"/><w:pgNumType w:start="5"/>'
    body = documents.heading(1, "One") + documents.text("words") + documents.heading(1, "Two")
    data = documents.document(
        body, section=section.partition("<w:pgNum")[0], parts={"rIdH1": ("header", documents.text("Above"))}
    )
    word = opened(data)

    set_up(word, pageNumbers={"start": 5})
    set_up(word, nodeId=text_id(word, "Two"), **{"break": "nextPage"})

    assert beside(word, "header") == ["Above", "Above"]
    numbers = [one.find(f"{W}pgNumType") for one in sections(word)]
    assert [None if one is None else one.get(f"{W}start") for one in numbers] == ["5", None]
    set_up(word, nodeId=text_id(word, "words"), header="First")
    assert beside(word, "header") == ["First", "Above"]


def test_paper_without_room_for_a_text_is_refused() -> None:
    word = opened(documents.chapters())

    for payload in ({"margins": {"left": 400, "right": 190}}, {"margins": {"top": 900}}, {"columns": 45}):
        with pytest.raises(InvalidEditError, match="give smaller margins"):
            set_up(word, **payload)
        word.package.rollback()


def test_breaks_stand_before_nodes_of_the_text_itself() -> None:
    word = opened(documents.nested_tables())

    with pytest.raises(InvalidEditError, match="inside of something"):
        set_up(word, nodeId=text_id(word, "deep"), **{"break": "page"})
    word = opened(documents.headers_and_footers())
    with pytest.raises(InvalidEditError, match="beside the text"):
        set_up(word, nodeId="header3", orientation="landscape")


def test_paper_without_a_name_lies_as_it_is_given() -> None:
    word = opened(documents.chapters())

    set_up(word, size={"width": 800, "height": 400})
    assert paper(sections(word)[0]) == ("16000", "8000", "landscape")
    set_up(word, orientation="portrait")
    assert paper(sections(word)[0]) == ("8000", "16000", None)


@pytest.mark.parametrize(
    "payload",
    [{}, {"break": "page"}, {"margins": {}}, {"pageNumbers": {}}, {"columns": 0}, {"size": "A9"}],
)
def test_a_payload_that_says_nothing_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"give|valid|greater|Input"):
        PageSetup.model_validate(payload)


def test_after_a_rollback_headers_that_were_made_are_forgotten() -> None:
    word = opened(documents.papers())
    before = word.outline()
    applied(word, PageSetup.model_validate({"header": "Gone"}))

    word.package.rollback()

    assert word.outline() == before
    assert word.finder().find(set_up(word, header="Back")["header"])


def test_no_header_is_called_as_one_that_went() -> None:
    word = opened(documents.papers())
    first = applied(word, PageSetup.model_validate({"header": "First"}))["header"]
    PageSetup.model_validate({"header": None}).apply(word, occasion(2))

    assert PageSetup.model_validate({"header": "Second"}).apply(word, occasion(3))["header"] != first
