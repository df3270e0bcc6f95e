"""Formats on slides: what is named looks otherwise, everything else as it did."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.format import ApplyFormat
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.reading.showing import NodeWanted, node
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import A, P, applied, assert_consistent, differing, opened, reopened, written

TABLE = "slide-256.4"
_NODES = {
    "text": (powerpoint.plain(), "slide-257.3"),
    "cell": (powerpoint.tables(), f"{TABLE}.r2.c2"),
    "box": (powerpoint.connected(), "slide-256.3"),
}


def formatted(deck: Presentation, **payload: Any) -> Result:
    text, outline = deck.text(), deck.outline()
    result = applied(deck, ApplyFormat.model_validate(payload))
    assert (deck.text(), deck.outline()) == (text, outline)
    assert result["ids"][0] == result["id"]
    assert {*result["ids"]} <= {*deck.reader().tree.by_id}
    assert opened(written(deck)).text() == text
    return result


def shape(deck: Presentation, node_id: str) -> Any:
    return deck.reader().tree.by_id[node_id].source.shape


def cells(deck: Presentation) -> list[list[Any]]:
    return [[*row.iter(f"{A}tc")] for row in shape(deck, TABLE).iter(f"{A}tr")]


def form(deck: Presentation, node_id: str) -> Any:
    return node(deck.reader(), NodeWanted(node_id, form=True)).node.get("format", {})


def sides(cell: Any) -> dict[str, str | None]:
    """Return the colours of the lines that are drawn at a cell."""
    found = {side: cell.find(f"{A}tcPr/{A}ln{side}") for side in "LRTB"}
    return {
        side: None if line.find(f"{A}noFill") is not None else line.find(f"{A}solidFill/{A}srgbClr").get("val")
        for side, line in found.items()
        if line is not None
    }


def test_a_shape_looks_as_it_is_told_and_its_neighbours_as_before() -> None:
    deck = opened(powerpoint.plain())
    before, neighbour = deck.package.write().content(), deck.fingerprint("slide-257.2")

    result = formatted(
        deck,
        nodeId="slide-257.3",
        bold=True,
        italic=False,
        underline=True,
        strike=True,
        color="#c00000",
        highlight="FFFF00",
        font="Arial",
        size=10.5,
        align="justify",
        verticalAlign="bottom",
        fill="DDEBF7",
        border="medium",
        wrap=False,
        spacing={"before": 6, "after": 12, "line": 18},
    )

    assert (result["id"], result["formatted"]) == ("slide-257.3", 2)
    body = reopened(written(deck)).slides[1].placeholders[1]
    paragraph = body.text_frame.paragraphs[1]
    font = paragraph.runs[0].font
    assert (font.bold, font.italic, font.underline, font.name, font.size.pt) == (True, False, True, "Arial", 10.5)
    assert (str(font.color.rgb), font._element.get("strike")) == ("C00000", "sngStrike")
    assert (paragraph.alignment, paragraph.space_before.pt, paragraph.space_after.pt) == (4, 6, 12)
    assert paragraph.line_spacing.pt == 18
    assert (body.text_frame.vertical_anchor, body.text_frame.word_wrap) == (4, False)
    assert (str(body.fill.fore_color.rgb), body.line.width.pt) == ("DDEBF7", 1.5)
    assert differing(before, written(deck)) == {"ppt/slides/slide2.xml"}
    assert deck.fingerprint("slide-257.2") == neighbour


def test_what_is_not_named_stays_as_it_was() -> None:
    deck = opened(powerpoint.split_runs())
    before = [dict(each.attrib) for each in shape(deck, "slide-256.2").iter(f"{A}rPr", f"{A}endParaRPr")]

    formatted(deck, nodeId="slide-256.2", color="00B050")

    changed = [*shape(deck, "slide-256.2").iter(f"{A}rPr", f"{A}endParaRPr")]
    assert [dict(each.attrib) for each in changed] == before
    assert {each.find(f"{A}solidFill/{A}srgbClr").get("val") for each in changed} == {"00B050"}


def test_only_the_letters_that_are_found_look_otherwise_also_over_stretches() -> None:
    deck = opened(powerpoint.split_runs())

    result = formatted(deck, find="lo wo", bold=True)

    runs = reopened(written(deck)).slides[0].shapes.title.text_frame.paragraphs[0].runs
    assert [(run.text, run.font.bold, run.font.italic) for run in runs] == [
        ("Hel", True, None), ("lo wo", True, True), ("r", None, True), ("ld", None, None),
    ]  # fmt: skip
    assert result == {"id": "slide-256.2", "formatted": 1, "ids": ["slide-256.2"]}


def test_every_occurrence_is_formatted_or_the_one_that_is_meant() -> None:
    every, second = opened(powerpoint.split_runs()), opened(powerpoint.split_runs())

    assert formatted(every, find="name", italic=True)["formatted"] == 2
    assert formatted(second, find="name", nth=2, italic=True)["formatted"] == 1

    def italic(deck: Presentation) -> list[str]:
        frame = reopened(written(deck)).slides[0].placeholders[1].text_frame
        return [run.text for run in frame.paragraphs[0].runs if run.font.italic]

    assert italic(every) == ["na", "me", "name"]
    assert italic(second) == ["name"]
    with pytest.raises(InvalidEditError, match="'name' stands 2 times in it, there is no 3th time"):
        formatted(second, find="name", nth=3, italic=True)


def test_what_older_programs_show_of_a_found_text_looks_like_it() -> None:
    deck = opened(powerpoint.grouped())
    before = etree.tostring(deck.package.tree("ppt/slides/slide1.xml")).count(b"needle")

    result = formatted(deck, find="needle", bold=True)

    bold = [
        run
        for run in deck.package.tree("ppt/slides/slide1.xml").iter(f"{A}r")
        if run.find(f'{A}rPr[@b="1"]') is not None
    ]
    assert [run.findtext(f"{A}t") for run in bold] == ["needle"] * before
    assert result["formatted"] < before


def test_a_link_is_shown_in_the_colour_that_it_is_given() -> None:
    deck = opened(powerpoint.rich())

    formatted(deck, nodeId="slide-256.3", color="C00000")
    formatted(deck, nodeId="slide-256.3", color="00B050")

    links = [*shape(deck, "slide-256.3").iter(f"{A}hlinkClick")]
    assert links
    assert all([each.get("val") for each in link.iter("{*}hlinkClr")] == ["tx"] for link in links)


def test_letters_of_notes_and_of_cells_look_as_told() -> None:
    notes, deck = opened(powerpoint.with_notes()), opened(powerpoint.tables())
    noted = next(each.id for each in notes.reader().tree.by_id.values() if each.kind == "notes")

    formatted(notes, nodeId=noted, italic=True, align="center")
    formatted(deck, nodeId=f"{TABLE}.r3.c1", bold=True, verticalAlign="center", fill="FFFF00")

    (slide,) = [each for each in reopened(written(notes)).slides if f"slide-{each.slide_id}" == noted.partition(".")[0]]
    assert slide.notes_slide.notes_text_frame.paragraphs[0].runs[0].font.italic is True
    table = reopened(written(deck)).slides[0].shapes[2].table
    assert [cell.fill.type is not None for cell in table.rows[2].cells] == [True, False, False]
    assert (table.cell(2, 0).vertical_anchor, table.cell(2, 0).text_frame.paragraphs[0].runs[0].font.bold) == (3, True)


def test_an_empty_text_is_formatted_for_what_will_be_written_there() -> None:
    deck = opened(powerpoint.connected())
    (box, *_) = [each.id for each in deck.reader().tree.by_id.values() if each.kind == "shape"]

    formatted(deck, nodeId=box, size=30, fill="none", border={"style": "dashed", "color": "C00000"})

    assert shape(deck, box).find(f"{P}txBody/{A}p/{A}endParaRPr").get("sz") == "3000"
    assert shape(deck, box).find(f"{P}spPr/{A}noFill") is not None
    assert shape(deck, box).find(f"{P}spPr/{A}ln/{A}prstDash").get("val") == "dash"


@pytest.mark.parametrize("kind", ["bullet", "number", "none"])
def test_paragraphs_become_items_and_texts_again(kind: str) -> None:
    deck = opened(powerpoint.plain())
    node_id, title = "slide-257.3", "slide-257.2"

    for name in (node_id, title):
        formatted(deck, nodeId=name, list=kind)

    reader = deck.reader()
    said = {name: reader.content(reader.tree.by_id[name]) for name in (node_id, title)}
    assert (
        said
        == {
            "bullet": {node_id: "- Up by a third\n- Mostly services", title: "- Revenue"},
            "number": {node_id: "1. Up by a third\n2. Mostly services", title: "1. Revenue"},
            "none": {node_id: "Up by a third\n\nMostly services", title: "Revenue"},
        }[kind]
    )


def test_a_list_that_comes_and_goes_leaves_the_bullets_of_the_layout() -> None:
    deck = opened(powerpoint.plain())
    before = etree.tostring(shape(deck, "slide-257.3"))

    for kind in ("none", "bullet"):
        formatted(deck, nodeId="slide-257.3", list=kind)

    after = shape(deck, "slide-257.3")
    for properties in [*after.iter(f"{A}pPr")]:
        assert len(properties) == len(properties.attrib) == 0
        properties.getparent().remove(properties)
    assert etree.tostring(after) == before


def test_what_hangs_out_of_an_indent_stays_within_the_text() -> None:
    deck = opened(powerpoint.plain())

    formatted(deck, nodeId="slide-256.2", list="bullet", indent=9)
    formatted(deck, nodeId="slide-257.2", indent=0)

    places = [shape(deck, name).find(f".//{A}pPr").attrib for name in ("slide-256.2", "slide-257.2")]
    assert [(each["marL"], each["indent"]) for each in places] == [("114300", "-114300"), ("0", "0")]


def test_lines_of_cells_are_drawn_where_they_are_wanted_on_both_sides() -> None:
    deck = opened(powerpoint.tables())

    formatted(deck, nodeId=f"{TABLE}.r2.c2", border={"style": "thin", "color": "C00000"})

    drawn = {(row, at): sides(cell) for row, line in enumerate(cells(deck), 1) for at, cell in enumerate(line, 1)}
    red = "C00000"
    assert {place: found for place, found in drawn.items() if found} == {
        (2, 2): dict.fromkeys("LRTB", red), (2, 1): {"R": red}, (2, 3): {"L": red}, (3, 2): {"T": red},
        (1, 2): {"B": red}, (1, 1): {"B": red},
    }  # fmt: skip


def test_lines_go_around_a_table_between_its_cells_and_never_through_merged_ones() -> None:
    deck = opened(powerpoint.tables())

    formatted(deck, nodeId=TABLE, border={"style": "thick", "sides": ["outline"], "color": "00B050"})
    formatted(deck, nodeId=TABLE, border={"style": "hair", "sides": ["inside"]})
    formatted(deck, nodeId=f"{TABLE}.r3", border={"style": "none", "sides": ["bottom"]})

    green, black = "00B050", "000000"
    found = [[sides(cell) for cell in line] for line in cells(deck)]
    # The first two cells of the first row are one, and the last one reaches over the second and third row.
    assert found[0][0] == {"L": green, "T": green, "R": black, "B": black}
    assert found[0][1] == {"T": green, "R": black, "B": black}
    assert found[1][1] == dict.fromkeys("LRTB", black)
    assert found[1][2] == {"L": black, "R": green, "T": black, "B": None}
    assert found[2][2] == {"L": black, "R": green, "B": None}


def test_the_colour_that_a_line_has_stays_with_another_width() -> None:
    deck = opened(powerpoint.tables())

    for border in ({"style": "thin", "color": "C00000"}, "thick"):
        formatted(deck, nodeId=f"{TABLE}.r2.c2", border=border)

    line = cells(deck)[1][1].find(f"{A}tcPr/{A}lnL")
    assert (line.get("w"), line.find(f"{A}solidFill/{A}srgbClr").get("val")) == ("28575", "C00000")


def test_a_placeholder_gets_a_size_of_its_own_where_its_layout_has_it() -> None:
    deck = opened(powerpoint.plain())
    before = form(deck, "slide-257.3")

    formatted(deck, nodeId="slide-257.3", width=200)

    assert form(deck, "slide-257.3") == {**before, "width": 200.0}


def test_a_picture_keeps_its_form_and_a_chart_does_not() -> None:
    deck = opened(powerpoint.illustrated())
    picture, chart = "slide-257.3", "slide-256.3"
    shown, drawn = form(deck, picture), form(deck, chart)

    formatted(deck, nodeId=picture, height=30)
    formatted(deck, nodeId=chart, height=30)

    assert form(deck, picture)["width"] == pytest.approx(30 * shown["width"] / shown["height"], abs=0.01)
    assert (form(deck, chart)["width"], form(deck, chart)["height"]) == (drawn["width"], 30)


def test_a_table_its_columns_and_its_rows_get_sizes_and_the_frame_follows() -> None:
    deck = opened(powerpoint.tables())

    formatted(deck, nodeId=TABLE, width=300, height=90)
    formatted(deck, nodeId=f"{TABLE}.r2.c1", width=150)
    formatted(deck, nodeId=f"{TABLE}.r3", height=50)

    table = reopened(written(deck)).slides[0].shapes[2]
    assert [column.width.pt for column in table.table.columns] == [150, 100, 100]
    assert [row.height.pt for row in table.table.rows] == [30, 30, 50]
    assert (table.width.pt, table.height.pt) == (350, 110)


def test_a_text_that_has_become_too_large_is_told_of() -> None:
    result = formatted(opened(powerpoint.plain()), nodeId="slide-257.2", size=300)

    assert [(each["code"], each["nodeId"]) for each in result["warnings"]] == [("overflow", "slide-257")]


@settings(max_examples=30)
@given(data=st.data())
def test_what_is_given_is_read_again_and_what_is_not_stays_unsaid(data: st.DataObject) -> None:
    file, name = _NODES[data.draw(st.sampled_from(["text", "cell", "box"]))]
    deck = opened(file)
    colour, points = st.sampled_from(["C00000", "00B050"]), st.sampled_from([0.0, 6.5, 36.0])
    looks: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(("bold", "italic", "underline", "strike"), st.booleans()),
        "color": colour, "highlight": colour, "font": st.sampled_from(["Arial", "Ünï & Co"]),
        "size": st.sampled_from([1.0, 10.5, 300.0]), "align": st.sampled_from(["left", "center", "right", "justify"]),
        "indent": points, "spacing": st.fixed_dictionaries({"before": points}, optional={"after": points}),
        "fill": colour | st.just("none"), "verticalAlign": st.sampled_from(["top", "center", "bottom"]),
    }  # fmt: skip
    wanted = data.draw(st.fixed_dictionaries({}, optional=looks).filter(bool))

    applied(deck, ApplyFormat.model_validate({"nodeId": name, **wanted}))

    after = deck.package.write().content()
    assert_consistent(after)
    assert form(opened(after), name)["look"] == {**form(opened(file), name).get("look", {}), **wanted}


def test_what_only_some_letters_have_is_told_as_mixed() -> None:
    deck = opened(powerpoint.plain())

    formatted(deck, find="third", bold=True, color="C00000")

    assert form(deck, "slide-257.3")["look"] == {"mixed": ["bold", "color"]}


@pytest.mark.parametrize(
    ("make", "payload", "said"),
    [
        (powerpoint.plain, {"nodeId": "slide-257.3", "style": "Good"}, "a presentation has no style; there, format"),
        (powerpoint.plain, {"nodeId": "slide-257.3", "headingLevel": 1}, "a presentation has no headingLevel"),
        (powerpoint.plain, {"nodeId": "slide-257.3", "numberFormat": "0"}, "a presentation has no numberFormat"),
        (powerpoint.plain, {"range": "A1:B2", "bold": True}, "no ranges of cells: give nodeId or find"),
        (powerpoint.plain, {"nodeId": "slide-257", "bold": True}, "is a slide; name something that lies on it"),
        (powerpoint.plain, {"nodeId": "slide-999.2", "bold": True}, "there is no node 'slide-999.2'"),
        (powerpoint.plain, {"find": "nowhere", "bold": True}, "'nowhere' does not stand in it"),
        (powerpoint.plain, {"find": "Revenue", "fill": "C00000"}, "are for shapes and cells: name one by nodeId"),
        (powerpoint.plain, {"nodeId": "slide-257.3", "border": {"style": "thin", "sides": ["top"]}}, "line all around"),
        (powerpoint.illustrated, {"nodeId": "slide-257.3", "bold": True}, "is a picture, which has no text"),
        (powerpoint.illustrated, {"nodeId": "slide-257.3", "fill": "C00000"}, "is a picture: verticalAlign, fill"),
        (powerpoint.illustrated, {"nodeId": "slide-256.3", "border": "thin"}, "is a chart: border is for shapes"),
        (powerpoint.with_notes, {"nodeId": "slide-257.notes", "fill": "C00000"}, "no place on the slide"),
        (powerpoint.tables, {"nodeId": f"{TABLE}.r1.c2", "bold": True}, "is covered by the merged cell"),
        (powerpoint.tables, {"nodeId": f"{TABLE}.r1.c1", "width": 9}, "is a cell over several columns"),
        (powerpoint.tables, {"nodeId": f"{TABLE}.r2.c3", "height": 9}, "is a cell over several rows"),
        (powerpoint.tables, {"nodeId": f"{TABLE}.r1", "width": 9}, "is a row, whose width is that of its table"),
        (powerpoint.tables, {"nodeId": TABLE, "wrap": False}, "texts always go on in another line"),
        (powerpoint.commented, {"nodeId": "slide-256.comment-0-1", "bold": True}, "is a comment; name something"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(make: powerpoint.Maker, payload: dict[str, Any], said: str) -> None:
    deck = opened(make())
    before = deck.package.write().content()

    with pytest.raises(InvalidEditError) as refused:
        applied(deck, ApplyFormat.model_validate(payload))

    deck.package.rollback()
    assert said in str(refused.value)
    assert deck.package.write().content() == before


def test_a_chapter_and_a_shape_in_a_group_are_refused_by_name() -> None:
    chapters, deck = opened(powerpoint.sectioned()), opened(powerpoint.grouped())
    inside = next(each for each in deck.reader().tree.by_id.values() if each.text == "needle inside")

    with pytest.raises(InvalidEditError, match="is a chapter: format what lies on its slides"):
        applied(chapters, ApplyFormat(node_id=chapters.outline()[0].id, bold=True))
    with pytest.raises(InvalidEditError, match="in a group, whose places are its own: ungroup it"):
        applied(deck, ApplyFormat(node_id=inside.id, width=9))


@settings(max_examples=20)
@given(
    begin=st.integers(0, 10), length=st.integers(1, 11), names=st.sets(st.sampled_from(["bold", "strike"]), min_size=1)
)  # fmt: skip
def test_a_format_that_is_taken_back_leaves_the_words_and_the_looks(begin: int, length: int, names: set[str]) -> None:
    text = "Hello world"[begin : begin + length]
    deck = opened(powerpoint.split_runs())

    for is_set in (True, False):
        if text in deck.text():
            formatted(deck, find=text, **dict.fromkeys(names, is_set))

    paragraph = reopened(written(deck)).slides[0].shapes.title.text_frame.paragraphs[0]
    assert (paragraph.text, paragraph.alignment) == ("Hello world", 3)
