"""Pictures, footnotes and tasks in Markdown, where these can be held and where not."""

from time import process_time

import pytest

from officeplane.formats.blocks import Block, Code, Item, Note, Paragraph, Picture, Span
from officeplane.formats.commonmark import written
from officeplane.formats.data_uris import length_without_pictures
from officeplane.formats.markdown import SLIDES, TEXTS, WORDS, read

DATA = f"data:image/png;base64,{'A' * 100}"


def blocks(text: str) -> list[Block]:
    return read(text, TEXTS).blocks


def test_a_picture_is_one_of_the_document_or_brings_its_bytes() -> None:
    assert blocks(f"a ![x *y*](node:picture-4)![]({DATA})") == [
        Paragraph((Span("a "), Picture("x y", link="node:picture-4"), Picture("", link=DATA)))
    ]


def test_a_picture_is_its_alternative_text_where_there_are_none() -> None:
    found = read("a ![x *y*](node:picture-4)", WORDS)

    assert found.blocks == [Paragraph((Span("a x y"),))]
    assert [warning.detail for warning in found.warnings] == [
        "the picture 'node:picture-4' became its alternative text: no pictures are here"
    ]


def test_a_picture_leads_nowhere_and_that_is_said() -> None:
    (warning,) = read("[![x](node:picture-4)](https://a.b)", TEXTS).warnings

    assert warning.detail == "the link of a picture 'https://a.b' is not kept: pictures lead nowhere"


def test_pictures_are_written_as_they_were_read_with_or_without_words() -> None:
    text = "![](node:picture-4) and ![a \\* b](node:picture-5)"

    assert written(blocks(text)) == text


@pytest.mark.parametrize("text", [f"`{DATA}`", f"    {DATA}", f"a {DATA} b data:held0; c", f"{DATA}{DATA}"])
def test_bytes_that_are_no_picture_are_the_text_that_they_were(text: str) -> None:
    (block,) = blocks(text)

    said = block.text if isinstance(block, Code) else "".join(span.text for span in getattr(block, "line", ()))
    assert said == text.strip("` ")


def test_megabytes_of_a_picture_are_read_in_no_time() -> None:
    text = f"![]({DATA}{'A' * 15_000_000}) and words"
    began = process_time()

    (block,) = blocks(text)

    assert process_time() - began < 2
    assert isinstance(block, Paragraph)
    assert len(block.line[0].link or "") == 15_000_000 + len(DATA)
    assert length_without_pictures(text) == len("![]() and words")


def test_notes_say_what_stands_behind_their_label_with_all_paragraphs() -> None:
    text = "a[^1] b[^x]\n\n[^1]: one *two*\nlazy\n\n    second\n[^x]: other[^1]\n# H"
    one, two = (Span("one "), Span("two", italic=True), Span(" lazy")), (Span("second"),)

    first, *_ = blocks(text)

    assert first == Paragraph(
        (Span("a"), Note("1", says=(one, two)), Span(" b"), Note("x", says=((Span("other"), Span("[^1]")),)))
    )
    assert read(text, TEXTS).warnings == []


def test_a_mark_alone_is_that_of_a_note_which_may_be_there() -> None:
    assert blocks("a[^2]") == [Paragraph((Span("a"), Note("2")))]
    assert read("a[^2]", TEXTS).warnings == []


def test_a_note_without_a_mark_and_a_second_one_stay_text() -> None:
    found = read("a[^1]\n\n[^1]: one\n[^1]: again\n[^2]: two\n\n    more", TEXTS)

    assert found.blocks[1:] == [
        Paragraph((Span("[^1]: "), Span("again"))),
        Paragraph((Span("[^2]: "), Span("two"))),
        Paragraph((Span("more"),)),
    ]
    assert [warning.detail for warning in found.warnings] == [
        "the note '[^1]' (and 1 more) stays text: no mark in the text is its own"
    ]


@pytest.mark.parametrize("text", ["\\[^1\\]", "`[^1]`", "[^1](https://a.b)", "[^ 1]"])
def test_what_is_written_otherwise_is_no_mark(text: str) -> None:
    (block,) = blocks(text)

    assert isinstance(block, Paragraph)
    assert not any(isinstance(span, Note) for span in block.line)


def test_slides_have_pictures_and_no_notes() -> None:
    found = read(f"![x]({DATA})[^1]\n\n[^1]: one", SLIDES)

    assert found.blocks == [Paragraph((Picture("x", link=DATA), Span("[^1]"))), Paragraph((Span("[^1]: one"),))]
    assert ["footnote" in warning.detail for warning in found.warnings] == [True]


def test_tasks_begin_with_a_box_and_are_written_as_tasks() -> None:
    text = "- [ ] a\n- [x] **b** [c](https://a.b)\n  - [x] d\n\n1. [ ] e"

    assert [block.line[0].text[:2] for block in blocks(text) if isinstance(block, Item)] == ["☐ ", "☑ ", "☑ ", "☐ "]
    assert written(blocks(text)) == text
    assert read(text, WORDS).warnings == []


@pytest.mark.parametrize("text", ["- \\[ \\] a", "- [ ]a", "- [x](https://a.b) c", "- a [ ] b", "[ ] a", "- [y] a"])
def test_other_brackets_are_no_task(text: str) -> None:
    assert "☐" not in str(blocks(text))
    assert "☑" not in str(blocks(text))
    assert read(written(blocks(text)), TEXTS).blocks == blocks(text)
