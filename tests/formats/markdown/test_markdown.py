from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.formats.blocks import Block, Code, Heading, Item, Line, Paragraph, Quote, Rule, Span, Table, plain
from officeplane.formats.markdown import DEPTH_MAX, read
from officeplane.formats.xml import is_storable


def blocks(text: str | None) -> list[Block]:
    return read(text).blocks


def said(text: str) -> Line:
    (block,) = blocks(text)
    assert isinstance(block, Paragraph)
    return block.line


def cells(table: Table) -> list[list[str]]:
    return [[plain(cell) for cell in row] for row in table.rows]


def test_nothing_says_nothing() -> None:
    assert blocks(None) == blocks("") == blocks(" \n\n") == []


def test_headings_have_their_level() -> None:
    assert blocks("# One\n\n### Three\n\nTwo\n---") == [
        Heading(1, (Span("One"),)),
        Heading(3, (Span("Three"),)),
        Heading(2, (Span("Two"),)),
    ]


def test_formatting_becomes_spans() -> None:
    assert said("a **b *c* ~~d~~** `e` f") == (
        Span("a "),
        Span("b ", bold=True),
        Span("c", bold=True, italic=True),
        Span(" ", bold=True),
        Span("d", bold=True, strike=True),
        Span(" "),
        Span("e", code=True),
        Span(" f"),
    )


def test_soft_breaks_are_spaces_and_hard_breaks_newlines() -> None:
    assert said("a\nb  \nc\\\nd") == (Span("a b\nc\nd"),)


@pytest.mark.parametrize("url", ["http://a.b/c?d=e", "https://a.b", "mailto:a@b.c", "HTTPS://A.B"])
def test_links_to_the_web_and_to_people_are_kept(url: str) -> None:
    (span,) = said(f"[there]({url})")

    assert span == Span("there", link=span.link)
    assert (span.link or "").lower() == url.lower()


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "ms-word:x", "//a.b", "data:text/html,x", "x.docx", "#a"]
)
def test_other_links_are_their_text(url: str) -> None:
    assert said(f"[there]({url})") == (Span("there"),)


def test_an_image_is_its_alt_text() -> None:
    assert said("see ![a *chart*](http://a.b/c.png)") == (Span("see a chart"),)


@pytest.mark.parametrize(
    ("text", "kept", "told"),
    [
        ("![Our logo](logo.png) and ![](b.png)", "Our logo and ", "the image 'logo.png' (and 1 more) became"),
        ("a <b>c</b>", "a <b>c</b>", "the HTML '<b>' (and 1 more) stays"),
        ("<!-- c -->", "<!-- c -->", "the HTML '<!--' stays"),
        ("a[^1]", "a[^1]", "the footnote '[^1]' stays"),
        ("[^1]: word", "[^1]: word", "the footnote '[^1]' stays"),
        ("[a](ftp://b)", "a", "the link 'ftp://b' became"),
    ],
)
def test_what_cannot_be_kept_is_said_and_its_words_are(text: str, kept: str, told: str) -> None:
    (warning,) = read(text).warnings

    assert warning.detail.startswith(told)
    assert warning.code == "not_kept"
    assert plain(said(text)) == kept


def test_the_alignment_of_columns_is_said_to_be_lost() -> None:
    (warning,) = read("|a|b|\n|:-:|-|\n|1|2|").warnings

    assert warning.detail.startswith("the alignment")


@pytest.mark.parametrize(
    "text", ["a < b > c", "\\<b>", "&lt;b&gt;", "`<b> [^1] ![](a)`", "    <b>", "[^ 1]", "<https://a.b>", "|a|\n|-|"]
)
def test_nothing_is_said_of_what_is_kept(text: str) -> None:
    assert read(text).warnings == []


def test_html_stays_text() -> None:
    assert said("<b>x</b>\n<script>y</script>") == (Span("<b>x</b> <script>y</script>"),)


def test_lists_nest_by_depth_and_say_where_they_begin() -> None:
    assert blocks("- a\n- b\n  1. c\n  2. d\n- e\n\n\n1. f") == [
        Item((Span("a"),), ordered=False, depth=0, begins_list=True),
        Item((Span("b"),), ordered=False, depth=0, begins_list=False),
        Item((Span("c"),), ordered=True, depth=1, begins_list=True),
        Item((Span("d"),), ordered=True, depth=1, begins_list=False),
        Item((Span("e"),), ordered=False, depth=0, begins_list=False),
        Item((Span("f"),), ordered=True, depth=0, begins_list=True),
    ]


def test_a_list_counts_from_its_first_number() -> None:
    assert [block.start for block in blocks("7. a\n7. b\n\n   0. c\n- d") if isinstance(block, Item)] == [7, 7, 0, 1]


def test_what_follows_in_an_item_stays_in_it() -> None:
    assert [plain(block.line) for block in blocks("- a\n\n  b\n- # c") if isinstance(block, Item)] == ["a\nb", "c"]


def test_what_follows_a_list_within_an_item_is_not_of_that_lists_last_item() -> None:
    assert blocks("- a\n  - b\n\n  c\n- d") == [
        Item((Span("a"),), ordered=False, depth=0, begins_list=True),
        Item((Span("b"),), ordered=False, depth=1, begins_list=True),
        Paragraph((Span("c"),)),
        Item((Span("d"),), ordered=False, depth=0, begins_list=False),
    ]


def test_other_blocks_in_an_item_follow_it() -> None:
    assert blocks("- ```\n  x = 1\n  ```\n\n  after") == [
        Item((), ordered=False, depth=0, begins_list=True),
        Code("x = 1"),
        Paragraph((Span("after"),)),
    ]


def test_quotes_code_and_rules() -> None:
    assert blocks("> a\n> b\n\n```py\nx\n\ny\n```\n\n    z\n\n***") == [
        Quote((Span("a b"),)),
        Code("x\n\ny"),
        Code("z"),
        Rule(),
    ]


def test_tables_have_a_header_unless_it_is_empty() -> None:
    with_header, without = blocks("|a|b|\n|-|-|\n|1|**2**|\n|3|\n\ntext\n\n| | |\n|-|-|\n|1|2|")[::2]

    assert isinstance(with_header, Table)
    assert cells(with_header) == [["a", "b"], ["1", "2"], ["3", ""]]
    assert with_header.header_rows == 1
    assert with_header.rows[1][1] == (Span("2", bold=True),)
    assert isinstance(without, Table)
    assert cells(without) == [["1", "2"]]
    assert without.header_rows == 0


def test_entities_cannot_name_what_a_document_cannot_hold() -> None:
    assert plain(said("a&#12;b&#0;c&#xD800;d&#xFFFE;e")) == "a\ufffdb\ufffdc\ufffdd\ufffde"


@pytest.mark.parametrize(
    "text",
    [
        "> " * 5_000 + "x",
        "- " * 5_000 + "x",
        "".join("  " * depth + "- x\n" for depth in range(300)),
        "> - " * 2_000 + "x",
        "[" * 100_000 + "x",
        "![" * 20_000 + "x",
        "*a " * 20_000 + "x",
        "<!-- " * 20_000 + "x",
        "<a " * 20_000 + "x",
        "<a b=" * 20_000 + "x",
        "|x" * 200 + "\n" + "|-" * 200 + "\n" + "|x\n" * 500,
    ],
)
def test_deep_and_endless_texts_end_soon_and_keep_their_words(text: str) -> None:
    begun = process_time()

    found = blocks(text)

    assert process_time() - begun < 8
    assert "x" in str(found)
    assert all(block.depth <= DEPTH_MAX for block in found if isinstance(block, Item))


_MARKS = st.sampled_from(
    ["# ", "- ", "1. ", "> ", "\n", "\n\n", "    ", "`", "```\n", "*", "**", "~~", "[", "](", ")", "![", "|", "|-|-|\n",
     "<b>", "&#", "&amp;", "\\", "http://", "mailto:", "[a]: b\n", "---\n", "\r", "\t", "\x00", "\ud800", "e\u0301"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(st.characters()), st.lists(st.one_of(_MARKS, st.text(max_size=3)), max_size=40).map("".join)))
def test_no_text_raises_and_all_that_comes_out_can_be_kept(text: str) -> None:
    for block in blocks(text):
        match block:
            case Table():
                lines = [cell for row in block.rows for cell in row]
            case Code():
                lines = [(Span(block.text),)]
            case Rule():
                lines = []
            case _:
                lines = [block.line]
        for span in [span for line in lines for span in line]:
            assert is_storable(span.text)
            assert span.link is None or is_storable(span.link)


@given(st.lists(st.text("abcdefghij \u00e4\u4e2d", min_size=1, max_size=10).map(str.strip).filter(bool), min_size=1))
def test_plain_paragraphs_come_out_as_they_went_in(texts: list[str]) -> None:
    assert [plain(block.line) for block in blocks("\n\n".join(texts)) if isinstance(block, Paragraph)] == [
        " ".join(text.split("\n")) for text in texts
    ]
