"""CommonMark: what is written says what was meant, to the reader that `content` has."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.formats.blocks import (
    Block,
    Code,
    Heading,
    Item,
    Line,
    Note,
    Paragraph,
    Picture,
    Quote,
    Rule,
    Span,
    Table,
)
from officeplane.formats.commonmark import written
from officeplane.formats.markdown import read

CHARACTERS = list("ab1 .-*_[]()#+>~`&<!|\\\n=:/\"'é\t;")
TEXTS = st.text(alphabet=st.sampled_from(CHARACTERS), min_size=1, max_size=14).filter(lambda text: text.strip() != "")
WORDS = st.text(alphabet=st.sampled_from(list("abé1")), min_size=1, max_size=5)
STYLED = st.builds(
    Span, WORDS, st.booleans(), st.booleans(), st.booleans(), st.just(value=False),
    st.sampled_from([None, "https://example.org/a_b(c)"]),
)  # fmt: skip
LINES = st.one_of(
    TEXTS.map(lambda text: (Span(text),)),
    st.lists(st.tuples(WORDS, STYLED), min_size=1, max_size=3).map(
        lambda pairs: (
            *(span for plain, styled in pairs for span in (Span(f"{plain} "), styled, Span(" "))),
            Span("z"),
        )
    ),
)


def joined(line: Line) -> Line:
    made: list[Span] = []
    for span in line:
        last = made[-1] if made else None
        if last is not None and span == Span(span.text, last.bold, last.italic, last.strike, last.code, last.link):
            made[-1] = Span(last.text + span.text, last.bold, last.italic, last.strike, last.code, last.link)
        else:
            made.append(span)
    return tuple(made)


def again(*blocks: Block) -> Sequence[Block]:
    return read(written(blocks)).blocks


@given(LINES)
def test_a_paragraph_is_read_as_it_was_written(line: Line) -> None:
    assert again(Paragraph(line)) == [Paragraph(joined(line))]


@given(LINES)
def test_no_text_of_a_quote_or_an_item_begins_something_else(line: Line) -> None:
    plain = tuple(Span(span.text.replace("\n", " ").strip() or "x") for span in line[:1])

    assert again(Quote(plain)) == [Quote(plain)]
    assert again(Item(plain, ordered=False, depth=0, begins_list=True)) == [
        Item(plain, ordered=False, depth=0, begins_list=True)
    ]


BLOCKS: list[list[Block]] = [
    [Heading(1, (Span("One #"),)), Heading(6, (Span("Six"),)), Paragraph((Span("# none"),))],
    [Code("a ``` b\n    c"), Rule(), Paragraph((Span("1. none"),))],
    [Table((((Span("a|b"),), ()), ((Span("c"),), (Span("d", bold=True),))), 1)],
    [Table((((Span("no header"),), (Span("x"),)),))],
    [
        Item((Span("one"),), ordered=True, depth=0, begins_list=True, start=3),
        Item((Span("deeper"),), ordered=False, depth=1, begins_list=True),
        Item((Span("deepest"),), ordered=False, depth=2, begins_list=True),
        Item((Span("two"),), ordered=True, depth=0, begins_list=False, start=3),
    ],
    [Quote((Span("said"),)), Quote((Span("- and said"),)), Paragraph((Span("then"),))],
]


@pytest.mark.parametrize("blocks", BLOCKS)
def test_blocks_are_read_as_they_were_written(blocks: list[Block]) -> None:
    assert [*again(*blocks)] == blocks


def test_two_lists_beside_each_other_stay_two() -> None:
    one = Item((Span("a"),), ordered=False, depth=0, begins_list=True)

    assert again(one, one) == [one, one]


def test_a_space_has_the_formatting_of_both_its_neighbours_or_none() -> None:
    line = (Span("a "), Span(" b ", bold=True), Span("c"))

    assert again(Paragraph(line)) == [Paragraph((Span("a  "), Span("b", bold=True), Span(" c")))]


def test_pictures_and_notes_say_where_they_are() -> None:
    line = (Span("see "), Picture("a [map]", link="node:picture-5"), Note("2"))

    assert written([Paragraph(line)]) == r"see ![a \[map\]](node:picture-5)[^2]"
