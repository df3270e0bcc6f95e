"""Texts of shapes, cells and notes are written by the ids that reading gives."""

from typing import Any

import pytest
from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.edit_node import EditNode
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.reading.detail import Detail
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import A, P, applied, opened, reopened, titles, written


def texts(deck: Presentation) -> list[Detail]:
    """Return every node that says something of its own."""
    found = [each for each in deck.reader().tree.by_id.values() if each.kind in {"text", "title", "cell", "notes"}]
    return [each for each in found if each.kind != "cell" or not {"hMerge", "vMerge"} & {*each.source.cell.attrib}]


def said(deck: Presentation, node_id: str) -> str | None:
    reader = deck.reader()
    return reader.content(reader.tree.by_id[node_id])


def shape(deck: Presentation, node_id: str) -> Any:
    return deck.reader().tree.by_id[node_id].source.shape


@pytest.mark.parametrize("make", powerpoint.HARD.values(), ids=powerpoint.HARD)
def test_what_was_read_changes_nothing_when_it_is_written_again(make: powerpoint.Maker) -> None:
    deck = opened(make())
    before = deck.package.write().content()
    reader = deck.reader()

    for node in reader.tree.by_id.values():
        content = reader.content(node)
        if node.kind in {"text", "title", "cell", "notes", "shape"} and content is not None:
            applied(deck, EditNode(node_id=node.id, content=content), EditNode(node_id=node.id, text=node.text))

    assert deck.package.write().content() == before
    assert deck.package.renewed == []


@pytest.mark.parametrize("make", powerpoint.HARD.values(), ids=powerpoint.HARD)
@pytest.mark.parametrize("content", ["Plain", "**Bold** and *more*", "- one\n- two\n  1. deep", "First\n\nSecond"])
def test_what_is_written_is_read_again(make: powerpoint.Maker, content: str) -> None:
    deck = opened(make())

    for node in texts(deck)[:6]:
        applied(deck, EditNode(node_id=node.id, content=content, discard=True))

        assert said(deck, node.id) == content

    again = opened(written(deck))
    assert again.text() == deck.text()


def test_paragraphs_that_stay_the_same_are_not_touched() -> None:
    deck = opened(powerpoint.plain())
    node = "slide-257.3"
    before = [etree.tostring(each) for each in shape(deck, node).iter(f"{A}p")]

    applied(deck, EditNode(node_id=node, content="- Up by a third\n- **New**\n- Mostly services"))

    after = [etree.tostring(each) for each in shape(deck, node).iter(f"{A}p")]
    assert [after[0], after[2]] == before
    assert said(deck, node) == "- Up by a third\n- **New**\n- Mostly services"
    assert titles(deck) == ["Quarterly report", "Revenue", "Costs"]


def test_new_text_looks_like_the_first_stretch_of_what_it_takes_the_place_of() -> None:
    kept, dropped = opened(powerpoint.split_runs()), opened(powerpoint.split_runs())
    node = "slide-256.2"

    applied(kept, EditNode(node_id=node, text="Hi"))
    applied(dropped, EditNode(node_id=node, text="Hi", keep_format=False))

    paragraph = reopened(written(kept)).slides[0].shapes.title.text_frame.paragraphs[0]
    assert (paragraph.text, paragraph.alignment, paragraph.runs[0].font.bold) == ("Hi", 3, True)
    assert paragraph._p.find(f"{A}endParaRPr").get("sz") == "4400"
    bare = reopened(written(dropped)).slides[0].shapes.title.text_frame.paragraphs[0]
    assert (bare.text, bare.alignment, bare.runs[0].font.bold) == ("Hi", None, None)


def test_content_says_itself_what_is_bold() -> None:
    deck = opened(powerpoint.split_runs())

    applied(deck, EditNode(node_id="slide-256.2", content="Hello **new** world"))

    runs = reopened(written(deck)).slides[0].shapes.title.text_frame.paragraphs[0].runs
    assert [(run.text, run.font.bold) for run in runs] == [("Hello ", None), ("new", True), (" world", None)]


def test_a_plain_text_is_taken_as_it_is_line_by_line() -> None:
    deck = opened(powerpoint.plain())

    applied(deck, EditNode(node_id="slide-257.3", text="# 1 *is* it\nUp by a third"))

    node = deck.reader().tree.by_id["slide-257.3"]
    assert node.text == "# 1 *is* it\nUp by a third"
    assert said(deck, node.id) == "- # 1 \\*is\\* it\n- Up by a third".replace("# 1", "\\# 1")


def test_a_cell_is_written_and_the_others_stay() -> None:
    deck = opened(powerpoint.tables())
    (table,) = [each for each in deck.reader().tree.by_id.values() if each.kind == "table"]
    before = [cell.text for row in table.children for cell in row.children]

    applied(deck, EditNode(node_id=f"{table.id}.r3.c1", content="**Total**\n\nof all"))

    cells = [cell.text for row in deck.reader().tree.by_id[table.id].children for cell in row.children]
    assert cells == [*before[:6], "Total\nof all", *before[7:]]
    assert written(deck)


def test_a_covered_cell_is_refused() -> None:
    deck = opened(powerpoint.tables())
    (table,) = [each.id for each in deck.reader().tree.by_id.values() if each.kind == "table"]

    with pytest.raises(InvalidEditError, match=r"r1\.c2' is covered by the merged cell to the left"):
        applied(deck, EditNode(node_id=f"{table}.r1.c2", text="x"))


def test_notes_are_written_where_there_were_none() -> None:
    deck = opened(powerpoint.with_notes())

    applied(deck, EditNode(node_id="slide-256.notes", content="Say **this**"))
    applied(deck, EditNode(node_id="slide-257.notes", text=""))

    assert said(deck, "slide-256.notes") == "Say **this**"
    assert "slide-257.notes" not in deck.reader().tree.by_id
    assert written(deck)


def test_a_chapter_is_renamed() -> None:
    deck = opened(powerpoint.sectioned())
    chapter = deck.outline()[1].id

    applied(deck, EditNode(node_id=chapter, text="Something"))

    assert [node.text for node in opened(written(deck)).outline()] == ["Opening", "Something", "Details"]
    with pytest.raises(InvalidEditError, match="is a chapter: give its new name as text, in one line"):
        applied(deck, EditNode(node_id=chapter, content="Some\n\nthing"))


def test_an_empty_placeholder_is_filled_in_the_way_of_its_layout() -> None:
    deck = opened(powerpoint.plain())
    added = applied(deck, AddSlide(title="New"))["id"]
    (body,) = [node.id for node in deck.reader().tree.by_id[added].children if node.kind == "text"]

    applied(deck, EditNode(node_id=body, content="- a point\n\na paragraph"))

    assert said(deck, body) == "- a point\n\na paragraph"


def test_what_would_be_lost_is_refused_and_told() -> None:
    with pytest.raises(InvalidEditError, match=r"link .* in slide-256\.3, formula in slide-256\.3, animation"):
        applied(opened(powerpoint.rich()), EditNode(node_id="slide-256.3", text="x"))
    deck = opened(powerpoint.rich())
    result = applied(deck, EditNode(node_id="slide-256.3", text="x", discard=True))

    assert {warning["code"] for warning in result["warnings"]} == {"lost"}
    assert result["warnings"][-1]["detail"] == "animation 'of paragraph 3'"


def test_animations_follow_their_paragraphs_and_those_of_gone_ones_go() -> None:
    deck = opened(powerpoint.rich())
    reader = deck.reader()
    first, _, third = (reader.content(reader.tree.by_id["slide-256.3"]) or "").split("\n")

    applied(deck, EditNode(node_id="slide-256.3", content=f"{third}\n{first}", discard=True))

    (root,) = [deck.package.tree("ppt/slides/slide1.xml")]
    places = [(each.get("st"), each.get("end")) for each in root.iter(f"{P}pRg")]
    assert set(places) in ({("0", "0")}, {("1", "1")})
    assert written(deck)


@pytest.mark.parametrize(
    ("make", "node", "said"),
    [
        (powerpoint.plain, "slide-256", "is a slide; name a text on it, such as its title"),
        (powerpoint.plain, "slide-999.2", "there is no node 'slide-999.2': the outline lists"),
        (powerpoint.plain, "slide-256.77", "there is no node 'slide-256.77' on the slide 'slide-256'"),
        (powerpoint.illustrated, "slide-257.3", "is a picture, which has no text"),
        (powerpoint.illustrated, "slide-256.3", "is a chart, which has no text"),
        (powerpoint.tables, "slide-256.4", "is a table; name its cells, such as slide-256.4.r1.c1"),
        (powerpoint.tables, "slide-256.4.r2", "is a row; name its cells, such as slide-256.4.r2.c1"),
        (powerpoint.commented, "slide-256.comment-0-1", "is a comment, which says what it says: reply to it"),
    ],
)
def test_what_has_no_text_is_refused_with_what_to_name(make: powerpoint.Maker, node: str, said: str) -> None:
    with pytest.raises(InvalidEditError) as refused:
        applied(opened(make()), EditNode(node_id=node, text="x"))

    assert said in str(refused.value)


def test_a_table_has_no_place_in_a_text() -> None:
    with pytest.raises(InvalidEditError, match='insert_content with "into": "slide-257" puts one on the slide'):
        applied(opened(powerpoint.plain()), EditNode(node_id="slide-257.3", content="|a|\n|-|\n|b|"))


def test_what_has_no_room_is_told() -> None:
    result = applied(opened(powerpoint.plain()), EditNode(node_id="slide-257.3", text="a story " * 2_000))

    assert [(warning["code"], warning["nodeId"]) for warning in result["warnings"]] == [("overflow", "slide-257")]


def test_a_change_of_the_named_shape_is_seen_and_one_of_another_is_not() -> None:
    deck = opened(powerpoint.plain())
    nodes = ("slide-257.2", "slide-257.3")
    before = [deck.fingerprint(node) for node in nodes]

    applied(deck, EditNode(node_id=nodes[0], text="Other"))

    after = [deck.fingerprint(node) for node in nodes]
    assert None not in before
    assert [was == now for was, now in zip(before, after, strict=True)] == [False, True]
