"""Reading Word documents in parts: what their nodes are, and what of each is told."""

import io
import json
from typing import Any

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from officeplane.domain.document import Node
from officeplane.edits.edit_page import EditPage
from officeplane.edits.insert_table import InsertTable
from officeplane.formats.charts.changing import ChartLook, new_chart
from officeplane.formats.charts.data import ChartData, Series, Shown
from officeplane.formats.charts.names import CHART
from officeplane.formats.reading.finding import FindWanted, find
from officeplane.formats.reading.outlining import OutlineWanted, outline
from officeplane.formats.reading.showing import NodeWanted, node
from officeplane.formats.relationships import OFFICE, Relationships
from officeplane.formats.word.document import Word
from officeplane.formats.word.reader import WordReader
from officeplane.formats.xml import serialise
from tests.fixtures.documents import word as documents
from tests.formats.reading.contracts import contract
from tests.formats.reading.numbered import number, number_headings
from tests.formats.word.texts import applied, opened, written

CONTENT = "Some **bold** *leaning* ~~gone~~ `code` [link](https://example.org/)"


def reader(data: bytes) -> WordReader:
    return opened(data).reader()


def saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def say(paragraph: Any, *properties: str) -> None:
    for one in properties:
        paragraph._p.get_or_add_pPr().append(parse_xml(one.format(nsdecls("w"))))


def shown(reader: WordReader, node_id: str, **wanted: Any) -> dict[str, Any]:
    return node(reader, NodeWanted(node_id, **wanted)).node


def of_kind(reader: WordReader, kind: str) -> list[dict[str, Any]]:
    return [shown(reader, detail.id, form=True) for detail in reader.tree.by_id.values() if detail.kind == kind]


def flat(nodes: list[Node]) -> list[Node]:
    return [one for node in nodes for one in (node, *flat(node.children))]


def test_an_outline_of_a_contract_of_twelve_pages_takes_500_tokens() -> None:
    items = outline(reader(contract()), OutlineWanted()).items

    assert len(json.dumps({"revision": 12, "nodes": items}, separators=(",", ":"))) <= 500 * 4
    assert sum(item["words"] for item in items) > 4_000


def test_headings_have_the_numbers_that_a_reader_sees() -> None:
    items = outline(reader(contract()), OutlineWanted()).items

    fees = items[2]
    assert (fees["number"], fees["text"]) == ("3.", "Fees and Payment")
    assert [(one["number"], one["text"]) for one in fees["children"] if one["kind"] == "section"] == [
        ("3.1", "Invoices"), ("3.2", "Late Payment"),
    ]  # fmt: skip


def test_items_are_counted_on_below_each_heading_in_letters_and_roman_numbers() -> None:
    document = docx.Document()
    for title in ("One", "Two"):
        document.add_heading(title, 1)
        document.add_heading(f"{title} and a half", 2)
        for text, depth in (("a", 2), ("i", 3), ("ii", 3), ("b", 2)):
            number(document.add_paragraph(text), depth)
    number_headings(document)

    items = of_kind(reader(saved(document)), "item")

    assert [item["number"] for item in items] == ["(a)", "(i)", "(ii)", "(b)"] * 2
    assert items[1]["format"]["list"] == {"ordered": True, "depth": 3}


def test_outlines_have_the_nodes_that_edits_name() -> None:
    for name, make in documents.HARD.items():
        word = opened(make())

        known = word.reader().tree.by_id

        assert {one.id for one in flat(word.outline())} <= {*known}, name


def test_a_table_is_told_with_its_rows_and_cells() -> None:
    document = docx.Document()
    document.add_heading("Prices", 1)
    table = document.add_table(rows=2, cols=3)
    for at, row in enumerate(table.rows):
        for place, cell in enumerate(row.cells):
            cell.text = f"{at}|{place}"
    word = reader(saved(document))

    (found,) = of_kind(word, "table")

    assert found["facts"] == {"rows": 2, "columns": 3}
    assert found["content"] == ("|  |  |  |\n| --- | --- | --- |\n| 0\\|0 | 0\\|1 | 0\\|2 |\n| 1\\|0 | 1\\|1 | 1\\|2 |")
    cells = [cell["id"] for row in shown(word, found["id"], depth=2)["children"] for cell in row["children"]]
    assert len(cells) == 6
    assert shown(word, cells[4])["content"] == "1|1"
    (page,) = outline(word, OutlineWanted()).items[0]["children"]
    assert page["marks"] == {"table 2x3": 1}


def test_a_table_that_an_edit_has_made_is_one_node() -> None:
    word = opened(documents.chapters())
    made = applied(word, InsertTable(rows=[["x", 1]], header=["Token", "b"]))["id"]

    table = shown(word.reader(), made)

    assert (table["kind"], table["facts"]) == ("table", {"rows": 2, "columns": 2})
    assert table["content"] == "| **Token** | **b** |\n| --- | --- |\n| x | 1 |"


def test_what_an_edit_has_written_is_read_as_it_was_given() -> None:
    word = opened(documents.chapters())
    page = next(one.id for one in flat(word.outline()) if one.kind == "page")
    content = f"{CONTENT}\n\n- one\n  1. two\n\n> said\n\n### Deep\n\n```\ncode  here\n```"
    applied(word, EditPage(page_id=page, content=content, discard=True))

    read = shown(word.reader(), page)["content"]

    # Headings of content stand two levels deeper in a page; so say they of themselves.
    assert read == content.replace("### Deep", "##### Deep")


def test_pictures_are_told_with_their_size_and_where_they_stand() -> None:
    word = reader(documents.pictures())

    first = of_kind(word, "picture")[0]

    assert first["format"] == {"width": 28.35, "height": 28.35, "alt": "", "anchor": "inline"}
    assert "content" not in first
    assert f"](node:{first['id']})" in shown(word, first["parent"]["id"])["content"]


def test_what_was_deleted_and_inserted_is_told_with_who_did_it() -> None:
    word = reader(documents.tracked_changes())

    changes = of_kind(word, "change")

    assert {change["facts"]["change"] for change in changes} >= {"insertion", "deletion"}
    assert all(change["facts"].get("author") for change in changes)
    assert len({change["id"] for change in changes}) == len(changes)


def test_comments_stand_in_the_paragraph_that_they_are_about() -> None:
    word = reader(documents.comments())

    comments = of_kind(word, "comment")

    assert comments
    assert all(comment["id"].startswith("comment-") and comment["parent"] for comment in comments)


def test_notes_headers_and_boxes_are_searched() -> None:
    for make, kinds in (
        (documents.footnotes, {"footnotes"}),
        (documents.headers_and_footers, {"header", "footer"}),
        (documents.text_boxes, {"text box"}),
    ):
        word = reader(make())

        for kind in kinds:
            assert find(word, FindWanted("e", kinds=(kind,))).items, kind


def test_a_paragraph_keeps_its_id_while_others_change() -> None:
    word = opened(documents.paragraph_ids())
    before = {detail.text: detail.id for detail in word.reader().tree.by_id.values() if detail.kind == "paragraph"}
    pages = [one.id for one in flat(word.outline()) if one.kind == "page"]
    applied(word, EditPage(page_id=pages[0], content="other", discard=True))

    after = {detail.text: detail.id for detail in opened(written(word)).reader().tree.by_id.values()}

    kept = [text for text in before if text in after and text]
    assert kept
    assert all(before[text] == after[text] for text in kept)


def test_a_find_names_the_page_that_an_edit_may_change() -> None:
    word = reader(contract())

    places = find(word, FindWanted("undisputed", limit=500)).items

    pages = {detail.id for detail in word.tree.by_id.values() if detail.kind == "page"}
    assert {place["page"] for place in places} == pages
    assert [place["nth"] for place in places[:3]] == [1, 2, 3]


def test_forms_come_from_styles_and_from_paragraphs() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("centred", style="Intense Quote")
    say(paragraph, '<w:jc {} w:val="center"/>', '<w:ind {} w:left="720" w:hanging="x"/>')

    (found,) = of_kind(reader(saved(document)), "paragraph")

    assert found["format"] == {
        "style": "Intense Quote", "alignment": "center", "indent": {"left": 36.0, "hanging": 0.0},
    }  # fmt: skip
    assert found["content"] == "> centred"


def test_lists_that_nobody_describes_and_styles_in_circles_are_read_all_the_same() -> None:
    document = docx.Document()
    number(document.add_paragraph("in no list"), 2)
    styles = document.styles.element
    for one, other in (("One", "Other"), ("Other", "One")):
        styles.append(
            parse_xml(
                f'<w:style {nsdecls("w")} w:type="paragraph" w:styleId="{one}"><w:name w:val="{one}"/>'
                f'<w:basedOn w:val="{other}"/></w:style>'
            )
        )
    say(document.add_paragraph("around"), '<w:pStyle {} w:val="One"/>')

    paragraphs = of_kind(reader(saved(document)), "paragraph")

    assert [one["content"] for one in paragraphs] == ["in no list", "around"]


def test_a_reader_tells_of_the_document_as_it_is() -> None:
    word: Word = opened(documents.chapters())
    before = [*word.reader().tree.by_id]
    page = next(one.id for one in flat(word.outline()) if one.kind == "page")

    applied(word, EditPage(page_id=page, content="Something quite new", discard=True))

    after = word.reader()
    assert [*after.tree.by_id] != before
    assert find(after, FindWanted("quite NEW")).items[0]["page"] == page


def test_a_chart_is_read_as_a_table_of_what_it_shows() -> None:
    word: Word = opened(documents.charts_and_breaks())
    series = Series(Shown("Sheet1!$B$1", ("North",)), Shown("Sheet1!$B$2", (4,)))
    data = ChartData(Shown("Sheet1!$A$2", ("Q1",)), (series,))
    word.package.put("word/charts/chart1.xml", serialise(new_chart(ChartLook(title="Sales"), data, 1_000)))
    relation = Relationships(word.package, "word/document.xml").add("chart", "word/charts/chart1.xml")
    for shown in word.package.tree("word/document.xml").iter(f"{{{CHART}}}chart"):
        shown.set(f"{{{OFFICE}}}id", relation)
    chart = next(each.id for each in word.reader().tree.by_id.values() if each.kind == "chart")

    told = node(word.reader(), NodeWanted(chart, form=True)).node

    assert told["content"].splitlines() == ["|  | North |", "| --- | --- |", "| Q1 | 4 |"]
    assert told["format"].items() >= {"chart": "column", "title": "Sales"}.items()
