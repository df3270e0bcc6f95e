"""Formats in texts: what is named looks otherwise, everything else as it did."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.format import ApplyFormat
from officeplane.edits.insert_table import InsertTable
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


def lines(word: Word) -> dict[str, dict[str, str]]:
    """Return the lines that each cell says, by its text."""
    reader = word.reader()
    return {
        reader.said(one): node(reader, NodeWanted(one.id, form=True)).node["format"].get("borders", {})
        for one in reader.tree.by_id.values()
        if one.kind == "cell"
    }


def square() -> bytes:
    def row(*texts: str) -> str:
        return "".join(documents.cell(documents.text(one)) for one in texts)

    return documents.document(
        documents.table(row("A1", "B1", "C1"), row("A2", "B2", "C2"), row("A3", "B3", "C3"), columns=3)
    )


def cell_id(word: Word, text: str) -> str:
    return next(one.id for one in details(word, "cell") if word.reader().said(one) == text)


def test_a_cell_and_those_beside_it_say_the_same_of_the_line_between_them() -> None:
    word = opened(square())

    formatted(word, nodeId=cell_id(word, "B2"), border="thick")

    own = dict.fromkeys(("top", "left", "bottom", "right"), "single")
    assert lines(word) == {
        "A1": {}, "B1": {"bottom": "single"}, "C1": {},
        "A2": {"right": "single"}, "B2": own, "C2": {"left": "single"},
        "A3": {}, "B3": {"top": "single"}, "C3": {},
    }  # fmt: skip
    formatted(word, nodeId=cell_id(word, "B2"), border={"style": "none", "sides": ["left"]})
    assert (lines(word)["A2"]["right"], lines(word)["B2"]["left"]) == ("nil", "nil")
    assert lines(word)["B2"]["top"] == "single"


def test_lines_are_drawn_around_a_row_or_between_the_cells_of_a_table() -> None:
    word = opened(square())

    formatted(word, nodeId=details(word, "row")[1].id, border={"style": "double", "sides": ["outline"]})
    assert {name: set(said) for name, said in lines(word).items() if name.endswith("2")} == {
        "A2": {"top", "bottom", "left"}, "B2": {"top", "bottom"}, "C2": {"top", "bottom", "right"},
    }  # fmt: skip
    assert set(lines(word)["B1"]) == {"bottom"}

    word = opened(square())
    formatted(
        word, nodeId=details(word, "table")[0].id, border={"style": "thin", "sides": ["inside"], "color": "AABBCC"}
    )
    assert set(lines(word)["A1"]) == {"bottom", "right"}
    assert set(lines(word)["B2"]) == {"top", "left", "bottom", "right"}
    assert 'w:color="AABBCC"' in xml(word)


def test_no_line_goes_through_a_cell_that_is_merged_over_rows() -> None:
    word = opened(documents.merged_cells())

    formatted(word, nodeId=cell_id(word, "down"), border="dashed")

    assert set(lines(word)["down"]) == {"top", "left", "right"}
    parts = word.package.tree(MAIN).findall(f".//{W}vMerge/../{W}tcBorders")
    assert [[element_name(side) for side in one] for one in parts] == [
        ["top", "left", "right"],
        ["left", "bottom", "right"],
    ]


def test_a_paragraph_has_a_box_until_its_lines_are_taken_away() -> None:
    word = opened(saying("above", "boxed", "below"))
    before = word.fingerprint(details(word, "paragraph")[1].id)
    boxed = details(word, "paragraph")[1].id

    formatted(word, nodeId=boxed, border={"style": "medium", "sides": ["outline"], "color": "C00000"})
    form = node(word.reader(), NodeWanted(boxed, form=True)).node["format"]
    assert form["borders"] == dict.fromkeys(("top", "left", "bottom", "right"), "single")
    assert '<w:top w:val="single" w:sz="12" w:space="1" w:color="C00000"/>' in xml(word)
    formatted(word, nodeId=boxed, border="none")

    assert "pBdr" not in xml(word)
    assert before is not None


def test_an_empty_line_in_a_box_is_no_rule_and_one_with_a_line_below_is() -> None:
    word = opened(saying("a", "", "b"))
    page = details(word, "page")[0].id

    formatted(word, nodeId=page, border="thin")
    assert "***" not in (word.reader().content(word.reader().tree.by_id[page]) or "")
    formatted(word, nodeId=page, border={"style": "none", "sides": ["top", "left", "right"]})

    assert "***" in (word.reader().content(word.reader().tree.by_id[page]) or "")


def test_a_line_that_a_style_draws_is_taken_away_from_one_paragraph() -> None:
    boxed = (
        '<w:style w:type="paragraph" w:styleId="Boxed"><w:name w:val="Boxed"/><w:pPr><w:pBdr>'
        '<w:bottom w:val="single" w:sz="4" w:space="1" w:color="auto"/></w:pBdr></w:pPr></w:style>'
    )
    word = opened(documents.document(documents.text("ruled", "Boxed"), styles=boxed))

    formatted(word, nodeId=details(word, "paragraph")[0].id, border="none")

    assert '<w:pBdr><w:bottom w:val="nil"/></w:pBdr>' in xml(word)


def test_columns_tables_and_rows_have_the_sizes_they_are_given() -> None:
    word = opened(square())
    table = details(word, "table")[0].id

    def widths() -> list[float]:
        return node(word.reader(), NodeWanted(table, form=True)).node["format"]["columnWidths"]  # type: ignore[no-any-return]

    def heights() -> list[Any]:
        told = (node(word.reader(), NodeWanted(one.id, form=True)).node for one in details(word, "row"))
        return [one.get("format", {}) for one in told]

    formatted(word, nodeId=cell_id(word, "B2"), width=50, height=30)
    assert widths() == [100, 50, 100]
    assert node(word.reader(), NodeWanted(cell_id(word, "B3"), form=True)).node["format"]["width"] == 50
    assert heights() == [{}, {"height": 30}, {}]
    formatted(word, nodeId=table, width=500, height=20)
    assert widths() == [200, 100, 200]
    assert 'w:tblW w:w="10000" w:type="dxa"' in xml(word)
    assert heights() == [{"height": 20}] * 3


def test_a_column_that_becomes_narrower_takes_cells_over_several_columns_with_it() -> None:
    word = opened(documents.merged_cells())

    formatted(word, nodeId=cell_id(word, "B"), width=40)

    assert [one.get(f"{W}w") for one in word.package.tree(MAIN).iter(f"{W}gridCol")] == ["2000", "800", "2000"]
    with pytest.raises(InvalidEditError, match="covers 2 columns"):
        formatted(word, nodeId=cell_id(word, "across"), width=40)
    with pytest.raises(InvalidEditError, match="merged over several rows"):
        formatted(word, nodeId=cell_id(word, "down"), height=40)


def test_texts_in_cells_stay_in_one_line_where_they_are_told_to() -> None:
    word = opened(square())

    formatted(word, nodeId=cell_id(word, "B2"), wrap=False)
    assert xml(word).count("<w:noWrap/>") == 1
    formatted(word, nodeId=details(word, "table")[0].id, wrap=True)
    assert "noWrap" not in xml(word)


def test_a_picture_keeps_its_proportions_unless_both_sides_are_given() -> None:
    word = opened(documents.pictures())
    picture = details(word, "picture")[0].id

    def size() -> tuple[float, float]:
        form = node(word.reader(), NodeWanted(picture, form=True)).node["format"]
        return form["width"], form["height"]

    formatted(word, nodeId=picture, width=100, height=50)
    assert size() == (100, 50)
    formatted(word, nodeId=picture, height=100)
    assert size() == (200, 100)
    with pytest.raises(InvalidEditError, match="is a picture: format gives it a width and a height"):
        formatted(word, nodeId=picture, width=100, bold=True)
    formatted(word, nodeId=picture, width=1584, height=1)
    with pytest.raises(InvalidEditError, match="Word takes 1584"):
        formatted(word, nodeId=picture, height=2)


def test_sizes_and_lines_that_a_node_does_not_have_are_refused() -> None:
    word = opened(documents.nested_tables())

    for payload, told in (
        ({"find": "deep", "border": "thin"}, "border, width and height are those of nodes"),
        ({"find": "deep", "wrap": True}, "wrap are for cells"),
        ({"nodeId": details(word, "chapter")[0].id, "width": 10}, "tables, cells and pictures have a width"),
        ({"nodeId": details(word, "row")[0].id, "width": 10}, "as wide as its table"),
        ({"nodeId": details(word, "page")[0].id, "border": "thin"}, "holds a table"),
    ):
        with pytest.raises(InvalidEditError, match=told):
            formatted(word, **payload)


def test_a_table_that_an_edit_has_made_is_formatted_as_a_table() -> None:
    word = opened(saying("a"))
    made = applied(word, InsertTable(rows=[["x", "y"]]))["id"]

    formatted(word, nodeId=made, fill="DDEBF7", width=200)

    assert xml(word).count('w:fill="DDEBF7"') == 2
