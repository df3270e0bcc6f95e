"""Slides, shapes and rows are deleted, moved and copied by the ids that reading gives."""

from collections import Counter

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Edit
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.edits.duplicate_node import DuplicateNode
from officeplane.edits.edit_node import EditNode
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.move_node import MoveNode
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.relationships import Relationships
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import A, P, applied, differing, opened, parts, reopened, slides_of, titles, written

LINK = "https://example.org/hidden"
SHAPES = ("title", "text", "table", "picture", "chart", "video", "shape", "connector")


def on(deck: Presentation, slide_id: str) -> list[str]:
    """Return the ids of what lies on a slide, from the back to the front."""
    return [each.id for each in deck.reader().tree.by_id[slide_id].children if each.kind in SHAPES]


def chapters(deck: Presentation) -> list[list[str]]:
    return [[slide.text for slide in chapter.children] for chapter in deck.outline()]


# Deletion


@pytest.mark.parametrize("make", powerpoint.HARD.values(), ids=powerpoint.HARD)
def test_anything_on_a_slide_can_be_deleted_and_nothing_is_left_of_it(make: powerpoint.Maker) -> None:
    original = make()

    for slide in slides_of(opened(original))[:3]:
        deck = opened(original)
        for node in on(deck, slide.id):
            applied(deck, DeleteNode(node_id=node))

        assert on(deck, slide.id) == []
        again = opened(written(deck))
        root = again.package.tree(again.reader().tree.by_id[slide.id].source.part)
        numbers = {about.get("id") for about in root.iter(f"{P}cNvPr")}
        assert {target.get("spid") for target in root.iter(f"{P}spTgt", f"{P}bldP")} <= numbers
        assert not list(root.iter(f"{P}grpSp"))


def test_a_slide_is_deleted_as_ever() -> None:
    one, other = opened(powerpoint.linked()), opened(powerpoint.linked())

    assert applied(one, DeleteNode(node_id="slide-257")) == applied(other, DeleteSlide(slide_id="slide-257"))
    assert written(one) == written(other)


def test_a_shape_goes_with_the_parts_that_only_it_used() -> None:
    deck = opened(powerpoint.illustrated())

    chart = applied(deck, DeleteNode(node_id="slide-256.3"))
    picture = applied(deck, DeleteNode(node_id="slide-257.3"))

    held = parts(written(deck))
    assert not [name for name in held if "chart" in name or "embeddings" in name]
    assert [name for name in held if "media" in name]  # the picture stands on the other slide, too
    assert chart["warnings"] == [{"code": "lost", "nodeId": "slide-256", "detail": "chart 'Chart 2'"}]
    assert [warning["detail"] for warning in picture["warnings"]] == ["picture 'image.png'"]


def test_what_was_aimed_at_a_shape_goes_with_it_and_is_told() -> None:
    deck = opened(powerpoint.rich())

    result = applied(deck, DeleteNode(node_id="slide-256.3"))

    details = [warning["detail"] for warning in result["warnings"]]
    assert details == [f"link '{LINK}'", "formula", "animation (2 times)"]
    assert not list(deck.package.tree("ppt/slides/slide1.xml").iter(f"{P}timing"))
    assert "hidden" not in parts(written(deck))["ppt/slides/_rels/slide1.xml.rels"].decode()


def test_the_animations_of_others_stay() -> None:
    deck = opened(powerpoint.rich())

    applied(deck, DeleteNode(node_id="slide-256.2"))

    assert len(list(deck.package.tree("ppt/slides/slide1.xml").iter(f"{P}spTgt"))) == 3


def test_a_connector_is_no_longer_tied_to_what_is_gone() -> None:
    deck = opened(powerpoint.connected())
    one, other, line = on(deck, "slide-256")[-3:]

    result = applied(deck, DeleteNode(node_id=one))

    root = deck.package.tree("ppt/slides/slide1.xml")
    assert [end.get("id") for end in root.iter(f"{A}stCxn", f"{A}endCxn")] == [other.rpartition(".")[2]]
    assert [warning["detail"] for warning in result["warnings"]] == ["end of connector 'Connector 4'"]
    assert on(opened(written(deck)), "slide-256")[-2:] == [other, line]


def test_a_number_that_a_shape_had_is_given_to_no_other() -> None:
    deck = opened(powerpoint.plain())
    last = on(deck, "slide-256")[-1]

    applied(deck, DeleteNode(node_id=last))
    again = opened(written(deck))
    moved = applied(again, MoveNode(node_id="slide-257.3", into="slide-256"))["id"]

    assert (last, moved) == ("slide-256.3", "slide-256.4")


def test_rows_are_deleted_moved_and_copied() -> None:
    deck = opened(powerpoint.many(1))
    (table,) = [each.id for each in deck.reader().tree.by_id.values() if each.kind == "table"]
    applied(deck, *(EditNode(node_id=f"{table}.r{row}.c1", text=str(row)) for row in range(1, 5)))
    height = deck.reader().form(deck.reader().tree.by_id[table])["height"]

    assert applied(deck, DeleteNode(node_id=f"{table}.r2"))["id"] == f"{table}.r2"
    assert applied(deck, MoveNode(node_id=f"{table}.r3", before=f"{table}.r1"))["id"] == f"{table}.r1"
    assert applied(deck, DuplicateNode(node_id=f"{table}.r3"))["id"] == f"{table}.r4"

    rows = deck.reader().tree.by_id[table].children
    assert [row.children[0].text for row in rows] == ["4", "1", "3", "3"]
    assert deck.reader().form(deck.reader().tree.by_id[table])["height"] == height
    assert written(deck)


# Moving


def test_a_slide_goes_beside_another_one_into_its_chapter() -> None:
    deck = opened(powerpoint.sectioned())
    ids = [slide.id for slide in slides_of(deck)]

    applied(deck, MoveNode(node_id=ids[0], after=ids[3]))
    assert chapters(deck) == [["Slide 1"], [], ["Slide 2", "Slide 3", "Slide 0", "Slide 4"]]
    applied(deck, MoveNode(node_id=ids[4], before=ids[1]))
    assert chapters(deck) == [["Slide 4", "Slide 1"], [], ["Slide 2", "Slide 3", "Slide 0"]]
    applied(deck, MoveNode(node_id=ids[3], into=deck.outline()[1].id))
    assert chapters(deck) == [["Slide 4", "Slide 1"], ["Slide 3"], ["Slide 2", "Slide 0"]]
    applied(deck, MoveNode(node_id=ids[4], into=ids[2]))
    assert chapters(deck) == [["Slide 1"], ["Slide 3"], ["Slide 2", "Slide 0", "Slide 4"]]
    assert chapters(opened(written(deck))) == chapters(deck)


def test_a_shape_goes_behind_or_in_front_of_another_one() -> None:
    deck = opened(powerpoint.illustrated())
    title, chart, picture = on(deck, "slide-256")

    applied(deck, MoveNode(node_id=picture, before=title))
    assert on(deck, "slide-256") == [picture, title, chart]
    applied(deck, MoveNode(node_id=picture, after=chart), MoveNode(node_id=title, into="slide-256"))
    assert on(opened(written(deck)), "slide-256") == [chart, picture, title]


def test_a_shape_goes_to_another_slide_with_its_parts() -> None:
    original = powerpoint.illustrated()
    deck = opened(original)

    chart = applied(deck, MoveNode(node_id="slide-256.3", into="slide-257"))["id"]
    applied(deck, MoveNode(node_id="slide-256.4", into="slide-257"))

    data = written(deck)
    assert on(deck, "slide-256") == ["slide-256.2"]
    assert chart in on(deck, "slide-257")
    assert len(on(deck, "slide-257")) == 4
    (moved,) = [shape for shape in reopened(data).slides[1].shapes if shape.has_chart]
    assert [*moved.chart.plots[0].categories] == ["East", "West"]
    assert not [name for name in differing(original, data) if name.startswith(("ppt/charts", "ppt/embeddings"))]


def test_a_placeholder_looks_on_another_slide_as_it_did() -> None:
    deck = opened(powerpoint.plain())
    before = reopened(written(deck)).slides[1].placeholders[1]
    place = (before.left, before.top, before.width, before.height)

    moved = applied(deck, MoveNode(node_id="slide-257.3", into="slide-256"))["id"]

    after = next(s for s in reopened(written(deck)).slides[0].shapes if moved.endswith(f".{s.shape_id}"))
    assert (after.left, after.top, after.width, after.height) == place
    assert after.text_frame.text == "Up by a third\nMostly services"
    assert deck.reader().content(deck.reader().tree.by_id[moved]) == "- Up by a third\n- Mostly services"


# Copies


@pytest.mark.parametrize("make", powerpoint.HARD.values(), ids=powerpoint.HARD)
def test_a_copy_of_a_slide_says_and_shows_the_same(make: powerpoint.Maker) -> None:
    original = make()
    deck = opened(original)
    for slide in slides_of(deck)[:3]:
        before = deck.reader()
        applied_id = applied(deck, DuplicateNode(node_id=slide.id))["id"]

        after = deck.reader()
        one, other = after.tree.by_id[slide.id], after.tree.by_id[applied_id]
        said = (before.content(before.tree.by_id[slide.id]) or "").replace(slide.id, applied_id)
        assert said == after.content(other)
        assert [c.kind for c in one.children if c.kind != "comment"] == [c.kind for c in other.children]
        ids = [each.id for each in slides_of(deck)]
        assert ids.index(applied_id) == ids.index(slide.id) + 1

    data = written(deck)
    assert differing(original, data).isdisjoint(name for name in parts(original) if name.startswith("ppt/slides/slide"))


def test_the_copy_of_a_slide_has_a_chart_and_notes_of_its_own_and_shares_pictures() -> None:
    deck, noted = opened(powerpoint.illustrated()), opened(powerpoint.with_notes())
    before = Counter(name.split("/")[1] for name in deck.package.names if name.startswith("ppt/"))

    applied(deck, DuplicateNode(node_id="slide-256"))
    copy = applied(noted, DuplicateNode(node_id="slide-257"), DuplicateNode(node_id="slide-258"))["id"]
    applied(noted, EditNode(node_id=f"{copy}.notes", text="Other"))

    after = Counter(name.split("/")[1] for name in parts(written(deck)) if name.startswith("ppt/"))
    assert after["media"] == before["media"]
    assert after["charts"] == 2 * before["charts"]
    assert after["embeddings"] == 2 * before["embeddings"]
    assert [slide.notes_slide.notes_text_frame.text for slide in list(reopened(written(noted)).slides)[1:]] == [
        "Say this at 1", "Say this at 1", "Say this at 2", "Other",
    ]  # fmt: skip


def test_a_copied_slide_stands_in_the_chapter_of_the_original() -> None:
    deck = opened(powerpoint.sectioned())

    applied(deck, DuplicateNode(node_id=slides_of(deck)[1].id))

    assert chapters(opened(written(deck))) == [
        ["Slide 0", "Slide 1", "Slide 1"], [], ["Slide 2", "Slide 3", "Slide 4"],
    ]  # fmt: skip


def test_comments_are_not_copied_and_that_is_told() -> None:
    deck = opened(powerpoint.commented())

    result = applied(deck, DuplicateNode(node_id="slide-256"))

    assert result["warnings"] == [{"code": "not_copied", "nodeId": "slide-256", "detail": "comment 'Really?'"}]
    part = deck.reader().tree.by_id[result["id"]].source.part
    assert not Relationships(deck.package, part).of_type("comments")
    assert [arrow.target for arrow in Relationships(deck.package, part).of_type("tags")] == ["ppt/tags/tag2.xml"]


@pytest.mark.parametrize("make", powerpoint.HARD.values(), ids=powerpoint.HARD)
def test_a_copy_of_a_shape_says_the_same_beside_it(make: powerpoint.Maker) -> None:
    deck = opened(make())
    for slide in slides_of(deck)[:3]:
        for node in [each for each in deck.reader().tree.by_id[slide.id].children if each.kind in SHAPES[1:]]:
            content = (deck.reader().content(node) or "").replace(node.id, "")

            copy = applied(deck, DuplicateNode(node_id=node.id))["id"]

            reader = deck.reader()
            assert (reader.content(reader.tree.by_id[copy]) or "").replace(copy, "") == content
            ids = on(deck, slide.id)
            assert ids.index(copy) == ids.index(node.id) + 1

    assert opened(written(deck)).text() == deck.text()


@pytest.mark.parametrize(
    ("make", "edit", "said"),
    [
        (powerpoint.plain, DeleteNode(node_id="slide-256.99"), "there is no node 'slide-256.99'"),
        (powerpoint.tables, DeleteNode(node_id="slide-256.4.r1"), "cells of several rows are merged in this table"),
        (powerpoint.tables, DeleteNode(node_id="slide-256.4.r1.c1"), "is a cell, which cannot be deleted by itself"),
        (powerpoint.commented, DeleteNode(node_id="slide-256.comment-0-1"), "is a comment: `comment` deletes it"),
        (powerpoint.plain, MoveNode(node_id="slide-256", after="slide-256"), "cannot be moved after itself"),
        (powerpoint.plain, MoveNode(node_id="slide-256", into="slide-257"), "is a slide, not a section"),
        (powerpoint.plain, MoveNode(node_id="slide-256", after="slide-257.3"), "give the id of a slide"),
        (powerpoint.plain, MoveNode(node_id="slide-256.3", after="slide-257.3"), "is no shape on the slide of"),
        (powerpoint.plain, MoveNode(node_id="slide-256.2", into="slide-257"), "a title belongs to its slide"),
        (powerpoint.plain, DuplicateNode(node_id="slide-256.2"), "a title belongs to its slide"),
        (powerpoint.grouped, MoveNode(node_id="slide-256.4", into="slide-256"), "lies in a group"),
        (powerpoint.grouped, MoveNode(node_id="slide-256.4", after="slide-256.2"), "lies in a group that the other"),
        (powerpoint.with_notes, DuplicateNode(node_id="slide-257.notes"), "is a notes, which cannot be copied"),
        (powerpoint.tables, MoveNode(node_id="slide-256.4.r1", into="slide-256"), "name another row of its table"),
    ],
)  # fmt: skip
def test_what_has_no_place_is_refused_with_a_reason(make: powerpoint.Maker, edit: Edit, said: str) -> None:
    with pytest.raises(InvalidEditError) as refused:
        applied(opened(make()), edit)

    assert said in str(refused.value)


def test_chapters_are_neither_deleted_nor_moved_nor_copied() -> None:
    deck = opened(powerpoint.sectioned())
    chapter = deck.outline()[0].id

    for edit in (
        DeleteNode(node_id=chapter),
        MoveNode(node_id=chapter, after="slide-257"),
        DuplicateNode(node_id=chapter),
    ):
        with pytest.raises(InvalidEditError, match=r"is a chapter: .* its slides, by their ids"):
            applied(deck, edit)
    assert len(titles(deck)) == 5


def test_notes_are_deleted() -> None:
    deck = opened(powerpoint.with_notes())

    applied(deck, DeleteNode(node_id="slide-257.notes"))

    assert "slide-257.notes" not in opened(written(deck)).reader().tree.by_id


@pytest.mark.parametrize("edit_type", [EditNode, EditSlide, InsertContent, DeleteNode, MoveNode, DuplicateNode])
def test_the_example_of_each_edit_can_be_done(edit_type: type[Edit]) -> None:
    example = edit_type.model_json_schema()["examples"][-1]
    deck = opened(powerpoint.plain())

    applied(deck, edit_type.model_validate(example))

    assert written(deck)
