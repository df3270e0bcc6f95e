import gc
from collections.abc import Callable, Iterator
from time import process_time

import pytest
from docx.enum.section import WD_ORIENT

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.edits.add_chapter import AddChapter
from officeplane.edits.add_comment import AddComment
from officeplane.edits.add_section import AddSection
from officeplane.edits.contract import Edit
from officeplane.edits.delete_page import DeletePage
from officeplane.edits.edit_page import EditPage
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.write_page import WritePage
from officeplane.formats.package import Package
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, assert_sound, nodes, occasion, opened, reopened, shape, written, xml

_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/d.xml" ContentType="'
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
_ARROW = (
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
    ' Target="/d.xml"/>'
)
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Keep the collector away from what is measured: it now and then looks at all that every test so far has left."""
    gc.disable()
    yield
    gc.enable()


def _main(body: str) -> str:
    return f'<w:document xmlns:w="{_W}">{body}</w:document>'


def _file(main: str, arrow: str = _ARROW) -> bytes:
    files = {"[Content_Types].xml": _TYPES, "_rels/.rels": _RELS.format(arrow), "d.xml": main}
    return documents.zipped({name: content.encode() for name, content in files.items()})


@pytest.mark.parametrize(
    "main",
    [
        _main("<w:body/>"),
        f'<document xmlns="{_W}"><body><p><r><t>no prefix</t></r></p></body></document>',
        _main("<w:body><!-- said --><?done x?><w:sectPr/><w:p/></w:body>"),
        _main('<w:body><w:p><w:bookmarkStart/><w:bookmarkEnd w:id="x"/></w:p></w:body>'),
        _main("<w:body><w:p><w:pPr><w:pStyle/><w:outlineLvl/></w:pPr></w:p></w:body>"),
    ],
)
def test_the_least_that_is_a_document_can_be_edited(main: str) -> None:
    word = opened(_file(main))

    applied(
        word,
        AddSection(title="Section", content="> [said](https://example.com)\n\n1. one"),
        WritePage(content="Page"),
        AddComment(find="Page", text="first"),
    )

    again = opened(written(word))
    assert again.outline() == word.outline()
    assert [node.text for node in nodes(again.outline())][-4:] == ["Section", "said\none", "Page", "first"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_file("<w/>", ""), "no_main_part"),
        (_file("<w/>", _ARROW.replace("d.xml", "e.xml")), "no_main_part"),
        (_file("<w/>"), "unknown_dialect"),
        (_file("<w>"), "malformed_xml"),
    ],
)
def test_what_is_no_document_is_refused_in_words(data: bytes, reason: str) -> None:
    with pytest.raises(UnsupportedDocumentError) as refused:
        Word(Package.read(data)).outline()

    assert refused.value.reason == reason


def test_a_page_that_was_copied_is_a_node_of_its_own_for_good() -> None:
    name = "_op_page_0123456789ab"
    body = "".join(
        f'<w:bookmarkStart w:id="{i}" w:name="{name}"/>{documents.text(words)}<w:bookmarkEnd w:id="{i}"/>'
        for i, words in enumerate(("first", "second"))
    )
    word = opened(documents.document(body))
    first, second = [node.id for node in word.outline()]

    word.edit_page(second, [], word.brought(occasion().picture_number))

    assert first == "page-0123456789ab"
    assert [node.id for node in opened(written(word)).outline()] == [first, second]
    assert shape(word) == [("page", "first"), ("page", "")]


def test_of_several_bodies_all_are_the_text() -> None:
    word = opened(documents.several_bodies())

    result = applied(word, ReplaceText(find="START", replace="Begin"))

    assert result["replaced"] == 3
    assert word.text().split("\n") == ["Body 1", "Begin one", "[section break]", "Begin two", "Body 3", "Begin three"]
    assert [one.text for one in reopened(word).paragraphs if one.text] == [
        "Body 1", "Begin one", "Begin two", "Body 3", "Begin three",
    ]  # fmt: skip
    assert [one.orientation for one in reopened(word).sections] == [WD_ORIENT.LANDSCAPE, WD_ORIENT.PORTRAIT]
    assert_sound(word)


def test_numbers_of_bookmarks_at_the_end_of_their_range_leave_room() -> None:
    mark = '<w:bookmarkStart w:id="2147483647" w:name="last"/><w:bookmarkEnd w:id="2147483647"/>'
    word = opened(documents.document(documents.paragraph(mark + documents.run("x"))))

    applied(word, WritePage(content="Page"))

    assert '<w:bookmarkStart w:id="0" w:name="_op_page_' in xml(word)


def _other_content(page_id: str) -> Edit:
    return EditPage(page_id=page_id, content="x")


def _deletion(page_id: str) -> Edit:
    return DeletePage(page_id=page_id)


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize(
    ("make", "edit", "times"),
    [
        (documents.large, _other_content, 8),
        (documents.large, _deletion, 8),
        (documents.interrupted, _deletion, 4),
    ],
    ids=["edit large", "delete large", "delete interrupted"],
)
def test_to_replace_or_delete_a_page_costs_as_much_as_to_read_it_however_large_it_is(
    make: documents.Make, edit: Callable[[str], Edit], times: float
) -> None:
    word = opened(make())
    begun = process_time()
    page = next(one.id for one in nodes(word.outline()) if one.kind == "page")
    word.text()
    reading = process_time() - begun
    # The first edit stamps all ids; what that costs has a test of its own.
    applied(word, AddChapter(title="Behind all"))
    begun = process_time()

    applied(word, edit(page))

    # Where it took time in squares, it was more than this, or had no end.
    assert process_time() - begun < times * reading


def _alike() -> bytes:
    """Return a document of headings that say the same: each has to be told apart from the others."""
    headings = 20_000 * "<w:p><w:pPr><w:outlineLvl w:val='0'/></w:pPr><w:r><w:t>word</w:t></w:r></w:p>"
    return _file(_main(f"<w:body>{headings}</w:body>"))


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize(
    "make", [documents.large, documents.interrupted, _alike], ids=["large", "interrupted", "headings alike"]
)
def test_to_stamp_ids_costs_as_much_as_to_read_the_text_however_large_it_is(make: documents.Make) -> None:
    word = opened(make())
    begun = process_time()
    word.outline()
    word.text()
    read = process_time()

    applied(word, AddChapter(title="Behind all"))

    # Where it took time in squares, it was more than ten times as much.
    assert process_time() - read < 6 * (read - begun)


@pytest.mark.usefixtures("without_collector")
def test_to_replace_a_word_in_all_headings_costs_as_much_as_to_read_them_however_many_they_are() -> None:
    word = opened(_alike())
    begun = process_time()
    word.outline()
    reading = process_time() - begun
    applied(word, AddChapter(title="Behind all"))
    begun = process_time()

    applied(word, ReplaceText(find="word", replace="said"))

    # Where it took time in squares, it was more than fifteen times as much.
    assert process_time() - begun < 6 * reading


@pytest.mark.parametrize(
    ("many", "seconds_max"),
    [
        ('<w:br w:type="page"/>' * 400_000, 16),
        ("<w:fldChar w:fldCharType='begin'/>" + "<w:instrText> some words</w:instrText>" * 400_000, 8),
    ],
    ids=["breaks", "pieces of a field"],
)
def test_a_paragraph_with_thousands_of_marks_is_read_soon(many: str, seconds_max: float) -> None:
    word = opened(documents.document(f"<w:p><w:r><w:t>Text</w:t>{many}</w:r></w:p>"))
    begun = process_time()

    assert word.text().startswith("Text")
    # It takes an eighth of that; where each mark was put to all before it, half as much again.
    assert process_time() - begun < seconds_max
