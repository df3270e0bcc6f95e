"""Formats in texts: what is named looks otherwise, everything else as it did."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.format import ApplyFormat
from officeplane.formats.reading.detail import Detail
from officeplane.formats.reading.showing import NodeWanted, node
from officeplane.formats.word.document import Word
from officeplane.formats.word.names import element_name
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import MAIN, W, applied, assert_sound, opened, reopened, written, xml


def saying(*texts: str) -> bytes:
    return documents.document("".join(map(documents.text, texts)))


def details(word: Word, kind: str) -> list[Detail]:
    return [one for one in word.reader().tree.by_id.values() if one.kind == kind]


def formatted(word: Word, **payload: Any) -> Result:
    text = word.text()
    result = applied(word, ApplyFormat.model_validate(payload))
    assert_sound(word)
    assert word.text() == text
    assert result["id"] in word.reader().tree.by_id
    return result


def test_a_paragraph_looks_as_it_is_told_and_its_neighbours_as_before() -> None:
    word = opened(saying("before", "here", "after"))
    neighbours = [word.fingerprint(one.id) for one in details(word, "paragraph")]

    formatted(
        word,
        nodeId=details(word, "paragraph")[1].id,
        bold=True,
        italic=False,
        underline=True,
        strike=True,
        color="C00000",
        highlight="FFFF00",
        font="Arial",
        size=10.5,
        align="justify",
        indent=36,
        spacing={"before": 6, "after": 12, "line": 18},
    )

    paragraph = reopened(word).paragraphs[1]
    font = paragraph.runs[0].font
    assert (font.bold, font.italic, font.underline, font.strike, font.name) == (True, False, True, True, "Arial")
    assert (font.size, str(font.color.rgb), str(font.highlight_color)) == (133350, "C00000", "YELLOW (7)")
    shape = node(word.reader(), NodeWanted(details(word, "paragraph")[1].id, form=True)).node["format"]
    assert (shape["indent"]["left"], shape["spacing"]) == (36, {"before": 6, "after": 12})
    assert 'w:line="360" w:lineRule="atLeast"' in xml(word)
    assert str(paragraph.alignment) == "JUSTIFY (3)"
    now = [word.fingerprint(one.id) for one in details(word, "paragraph")]
    assert [now[0], now[2]] == [neighbours[0], neighbours[2]]
    assert now[1] != neighbours[1]


def test_a_text_is_formatted_where_it_stands_though_its_runs_are_split() -> None:
    word = opened(documents.split_runs())
    found = next(one for one in details(word, "paragraph") if len(one.text) > 4)
    wanted = found.text[1:-1]

    result = formatted(word, find=wanted, highlight="12AB34")

    assert result["formatted"] == 1
    shaded = "".join(text.text or "" for text in word.package.tree(MAIN).iterfind(f".//{W}r/{W}rPr/{W}shd/../../{W}t"))
    assert shaded == wanted


def test_what_newer_programs_say_of_letters_stays_behind_what_the_format_knows() -> None:
    newer = '<w:sz w:val="20"/><w14:ligatures w14:val="standard"/>'
    word = opened(documents.document(documents.paragraph(documents.run("a", newer))))

    formatted(word, nodeId=details(word, "paragraph")[0].id, underline=True, strike=True)

    properties = next(word.package.tree(MAIN).iter(f"{W}r")).find(f"{W}rPr")
    assert properties is not None
    assert [element_name(one) for one in properties] == ["strike", "sz", "u", "ligatures"]


def test_only_the_nth_is_formatted() -> None:
    word = opened(saying("a b a", "a"))

    assert formatted(word, find="a", nth=2, bold=True)["formatted"] == 1

    assert [[run.text for run in one.runs if run.bold] for one in reopened(word).paragraphs if one.text] == [["a"], []]
    assert [run.text for run in reopened(word).paragraphs[0].runs] == ["a b ", "a"]
    with pytest.raises(InvalidEditError, match="stands 3 times in it, there is no 4th"):
        formatted(word, find="a", nth=4, bold=True)


def test_a_paragraph_becomes_a_heading_and_a_heading_text() -> None:
    word = opened(documents.document(documents.text("Title") + documents.text("words") + documents.heading(1, "End")))

    made = formatted(word, nodeId=details(word, "paragraph")[0].id, headingLevel=2)
    assert made["id"].startswith("section-")
    gone = formatted(word, nodeId=details(word, "chapter")[0].id, headingLevel=0)
    assert gone["id"].startswith("p-")

    assert [(one.kind, one.text) for one in word.reader().tree.by_id.values() if one.kind != "page"] == [
        ("section", "Title"),
        ("paragraph", "words"),
        ("paragraph", "End"),
    ]


def test_paragraphs_become_items_of_a_list_and_none_again() -> None:
    word = opened(saying("one", "two"))
    page = word.outline()[0].id

    formatted(word, nodeId=page, list="number")
    assert [one.number for one in details(word, "item")] == ["1.", "2."]
    formatted(word, nodeId=details(word, "item")[1].id, list="bullet")
    assert node(word.reader(), NodeWanted(details(word, "item")[1].id, form=True)).node["format"]["list"] == {
        "ordered": False,
        "depth": 0,
    }
    formatted(word, nodeId=page, list="none")
    assert not details(word, "item")


def test_cells_rows_and_tables_are_filled() -> None:
    word = opened(documents.nested_tables())
    row = details(word, "row")[0]

    formatted(word, nodeId=row.id, fill="DDEBF7", verticalAlign="center", bold=True)

    cells = next(word.package.tree(MAIN).iter(f"{W}tr")).findall(f"{W}tc")
    assert {cell.find(f"{W}tcPr/{W}shd").get(f"{W}fill") for cell in cells} == {"DDEBF7"}  # type: ignore[union-attr]
    formatted(word, nodeId=details(word, "table")[0].id, fill="none")
    with pytest.raises(InvalidEditError, match="for tables, rows and cells"):
        formatted(word, nodeId=details(word, "page")[0].id, fill="DDEBF7")


def test_a_style_is_named_as_the_document_calls_it() -> None:
    word = opened(documents.nested_tables())
    table = details(word, "table")[0]

    formatted(word, nodeId=table.id, style="Fancy Grid")
    assert node(word.reader(), NodeWanted(table.id, form=True)).node["format"]["style"] == "Fancy Grid"
    with pytest.raises(InvalidEditError, match="did you mean 'normal'"):
        formatted(word, nodeId=details(word, "paragraph")[0].id, style="Norml")


def test_what_a_text_does_not_have_is_refused_by_name() -> None:
    word = opened(saying("a"))

    for payload, told in (
        ({"find": "a", "numberFormat": "0"}, "a text has no numberFormat"),
        ({"range": "Sheet1!A1", "bold": True}, "no ranges of cells"),
        ({"find": "b", "bold": True}, "'b' does not stand in it"),
        ({"nodeId": "p-00000000", "bold": True}, "p-00000000"),
        ({"find": "a", "headingLevel": 1, "style": "Normal"}, "give style or headingLevel"),
    ):
        with pytest.raises(InvalidEditError, match=told):
            formatted(word, **payload)


@given(st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=5), st.text("ab", min_size=1, max_size=3))
def test_formatted_are_just_the_letters_that_were_found(runs: list[str], wanted: str) -> None:
    text = "".join(runs)
    word = opened(documents.document(documents.paragraph("".join(map(documents.run, runs)))))
    expected: set[int] = set()
    at = text.find(wanted)
    while at >= 0:
        expected |= {*range(at, at + len(wanted))}
        at = text.find(wanted, at + len(wanted))
    assume(expected)

    formatted(word, find=wanted, bold=True)

    bold: set[int] = set()
    place = 0
    for run in reopened(word).paragraphs[0].runs:
        bold |= {*range(place, place + len(run.text))} if run.bold else set()
        place += len(run.text)
    assert bold == expected
    assert opened(written(word)).text() == word.text()
