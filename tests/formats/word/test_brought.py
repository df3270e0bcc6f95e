"""What content brings into texts besides words: pictures, footnotes and tasks."""

from collections.abc import Callable
from typing import Any

import pytest

from officeplane.domain.document import Format, InvalidEditError
from officeplane.edits.add_section import AddSection
from officeplane.edits.contract import Edit
from officeplane.edits.edit_node import EditNode
from officeplane.edits.edit_page import EditPage
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.page_setup import PageSetup
from officeplane.edits.write_page import WritePage
from officeplane.formats.blank import blank
from officeplane.formats.reading.listing import ListWanted, listed
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.fixtures.pictures import as_text, jpeg, png
from tests.formats.word.texts import applied, assert_sound, differing, occasion, opened, parts, written

GREY = f"data:image/png;base64,{as_text(png(400, 200))}"
PHOTO = f"data:image/jpeg;base64,{as_text(jpeg(40, 20))}"


def images(word: Word) -> list[dict[str, Any]]:
    return listed(word.reader(), ListWanted("images")).items


def content(word: Word, node_id: str) -> str:
    reader = word.reader()
    # A note begins with the space behind its mark.
    return (reader.content(reader.tree.by_id[node_id]) or "").removeprefix("&#32;")


def paragraphs(word: Word) -> list[str]:
    return [one.id for one in word.reader().tree.by_id.values() if one.kind in {"paragraph", "heading", "item"}]


def a_page(content: str) -> tuple[Word, str]:
    """Return a document with one page of a content, and the page."""
    word = opened(blank(Format.DOCX, "Blank"))
    return word, applied(word, WritePage(content=content))["id"]


def sound(word: Word) -> Word:
    assert_sound(word)
    return opened(written(word))


def test_content_brings_pictures_of_its_own_into_paragraphs_cells_and_items() -> None:
    word, _ = a_page(
        f"See ![a *grey* box]({GREY}) here\n\n- ![]({PHOTO})\n\n| a | b |\n|---|---|\n| ![box]({GREY}) | |"
    )

    found = images(sound(word))

    assert [(item.get("name"), item["width"]) for item in found] == [
        ("a grey box", 300),
        ("Picture 2", 30),
        ("box", 205.2),
    ]
    assert sum(name.startswith("word/media/") for name in parts(written(word))) == 2
    texts = [content(word, one) for one in paragraphs(word)]
    assert f"See ![a grey box](node:{found[0]['id']}) here" in texts


def test_a_picture_that_is_named_again_is_copied_and_shows_the_same_bytes() -> None:
    word, _ = a_page(f"![box]({GREY})")
    (first,) = images(word)

    made = applied(word, InsertContent(content=f"Again ![the box](node:{first['id']})", after=paragraphs(word)[-1]))

    one, other = images(sound(word))
    assert one["id"] == first["id"] != other["id"]
    assert content(word, made["id"]) == f"Again ![the box](node:{other['id']})"
    assert sum(name.startswith("word/media/") for name in parts(written(word))) == 1


def test_a_picture_of_the_text_is_copied_into_a_header() -> None:
    word, _ = a_page(f"![box]({GREY})")
    (first,) = images(word)

    applied(word, PageSetup(header=f"![box](node:{first['id']}) Report"))

    assert len(images(sound(word))) == 2
    assert sum(b"image1.png" in held for name, held in parts(written(word)).items() if name.endswith(".rels")) == 2


def test_a_picture_stays_itself_when_the_words_around_it_change() -> None:
    word, _ = a_page(f"See ![box]({GREY}) here, and ![photo]({PHOTO}) there")
    (box, photo) = images(word)
    (text,) = [one for one in paragraphs(word) if "See" in content(word, one)]

    said = f"There ![photo](node:{photo['id']}), ![box](node:{box['id']}) **here**"
    result = EditNode(node_id=text, content=said).apply(word, occasion(2))

    assert content(sound(word), text) == said
    assert {item["id"] for item in images(word)} == {box["id"], photo["id"]}
    assert "warnings" not in result


def test_a_picture_that_content_leaves_out_is_a_loss() -> None:
    word, _ = a_page(f"See ![box]({GREY}) here")
    (text,) = [one for one in paragraphs(word) if "See" in content(word, one)]

    with pytest.raises(InvalidEditError, match="picture 'box'"):
        EditNode(node_id=text, content="See here").apply(word, occasion(2))


def test_what_is_told_of_a_picture_can_be_changed_where_it_stands() -> None:
    word, _ = a_page(f"See ![box]({GREY}) here")
    (box,) = images(word)
    (text,) = [one for one in paragraphs(word) if "See" in content(word, one)]

    applied(word, EditNode(node_id=text, content=f"See ![a grey box](node:{box['id']}) here"))

    assert content(sound(word), text) == f"See ![a grey box](node:{box['id']}) here"


def test_a_page_that_names_its_pictures_and_notes_keeps_them() -> None:
    word, page = a_page(f"See ![box]({GREY}) here[^n]\n\n[^n]: A *note*")
    (box,) = images(word)

    applied(word, EditPage(page_id=page, content=f"There ![box](node:{box['id']})[^1]"))

    assert [item["id"] for item in images(sound(word))] == [box["id"]]
    assert f"There ![box](node:{box['id']})[^1]" in content(word, page)
    assert content(word, "footnote-1") == "A *note*"


def test_footnotes_of_content_are_notes_with_their_formatting() -> None:
    word, page = a_page(
        "One[^a], two[^b].\n\n| cell[^c] |\n|---|\n\n"
        "[^a]: First [there](https://example.org/)\n\n    and more\n[^b]: Second\n[^c]: Third"
    )

    assert content(sound(word), page).startswith("One[^1], two[^2].")
    assert content(word, "footnote-1") == "First [there](https://example.org/)\n\nand more"
    assert content(word, "footnote-3") == "Third"
    assert b"https://example.org/" in parts(written(word))["word/_rels/footnotes.xml.rels"]


def test_a_note_that_stands_in_a_paragraph_stays_and_another_comes_beside_it() -> None:
    word, _ = a_page("One[^a].\n\n[^a]: First")
    (text,) = [one for one in paragraphs(word) if "One" in content(word, one)]

    applied(word, EditNode(node_id=text, content="New one[^1], new two[^x].\n\n[^x]: Other"))

    assert content(sound(word), text) == "New one[^1], new two[^2]."
    assert [content(word, f"footnote-{number}") for number in (1, 2)] == ["First", "Other"]


def test_a_note_that_stands_there_does_not_say_something_else() -> None:
    word, _ = a_page("One[^a].\n\n[^a]: First")
    (text,) = [one for one in paragraphs(word) if "One" in content(word, one)]

    with pytest.raises(InvalidEditError, match="give 'footnote-1' to edit_node"):
        EditNode(node_id=text, content="One[^1].\n\n[^1]: Changed").apply(word, occasion(2))


def test_a_mark_without_a_note_stays_text_and_a_warning_tells() -> None:
    word = opened(blank(Format.DOCX, "Blank"))

    result = WritePage(content="One[^9].").apply(word, occasion())

    assert [warning["detail"] for warning in result["warnings"]] == [
        "the footnote '[^9]' stays text: no such note stands here, and none is given"
    ]
    assert "One[^9]." in word.text()


def test_tasks_are_items_with_boxes_and_are_read_as_tasks() -> None:
    word, page = a_page("- [ ] Buy **milk**\n- [x] Sleep")

    assert content(sound(word), page) == "- [ ] Buy **milk**\n- [x] Sleep"
    assert "☐ Buy milk" in word.text()
    item = next(one for one in paragraphs(word) if "Buy" in content(word, one))
    before = written(word)
    applied(word, EditNode(node_id=item, content="- [ ] Buy **milk**"))
    assert written(word) == before
    applied(word, EditNode(node_id=item, content="- [x] Buy **milk**"))
    assert content(sound(word), page) == "- [x] Buy **milk**\n- [x] Sleep"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("![x](node:picture-99)", "picture-99"),
        ("![x](data:image/png,abc)", "is no picture: give its bytes as data"),
        ("![x](data:image/png;base64,AAAA)", "as no PNG, JPEG or GIF does"),
        ("![x](node:{page})", "is a page"),
    ],
)
def test_pictures_that_are_none_are_refused_and_nothing_changes(said: str, why: str) -> None:
    word, page = a_page("Text")
    before = written(word)

    with pytest.raises(InvalidEditError, match=why):
        WritePage(content=said.format(page=page)).apply(word, occasion(2))

    word.package.rollback()
    assert written(word) == before


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("header", "a[^n]\n\n[^n]: Note"),
        ("footnote", "a[^n]\n\n[^n]: Note"),
        ("text box", "a[^n]\n\n[^n]: Note"),
        ("text box", f"a ![x]({GREY})"),
    ],
)
def test_what_has_no_place_beside_the_text_is_refused(kind: str, said: str) -> None:
    tried = 0
    for make in documents.HARD.values():
        for node in [one for one in opened(make()).reader().tree.by_id.values() if one.kind == kind]:
            tried += 1
            with pytest.raises(InvalidEditError, match=r"takes no|is beside the text|the mark of"):
                EditNode(node_id=node.id, content=said, discard=True).apply(opened(make()), occasion())
    assert tried


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_content_with_pictures_and_notes_stands_in_and_beside_every_paragraph(make: Callable[[], bytes]) -> None:
    data = make()
    said = f"New ![box]({GREY}) and[^n]\n\n[^n]: Note"
    reasons = ("text box", "beside the text", "field", "control")
    for node_id in paragraphs(opened(data))[::3]:
        edits: list[Edit] = [
            InsertContent(content=f"- [x] done\n\n{said}", after=node_id),
            EditNode(node_id=node_id, content=said, discard=True),
        ]
        for edit in edits:
            word, other = opened(data), opened(data)
            count = len(images(word))
            try:
                result = edit.apply(word, occasion())
            except InvalidEditError as error:
                if not any(why in str(error) for why in reasons):
                    raise
                continue
            assert edit.apply(other, occasion()) == result
            assert written(other) == written(word)
            assert len(images(sound(word))) == count + 1 or isinstance(edit, EditNode)


def test_content_with_notes_changes_no_part_that_it_need_not() -> None:
    word = opened(blank(Format.DOCX, "Blank"))
    data = written(word)

    applied(word, AddSection(title="Section", content="- [ ] a"))

    assert differing(data, written(word)) <= {"word/document.xml", "word/numbering.xml", "word/styles.xml",
                                              "word/_rels/document.xml.rels", "[Content_Types].xml"}  # fmt: skip
