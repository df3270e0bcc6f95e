from collections import Counter
from collections.abc import Callable, Mapping

import pytest

from officeplane.domain.document import Format
from officeplane.edits.add_chapter import AddChapter
from officeplane.edits.add_comment import AddComment
from officeplane.edits.add_section import AddSection
from officeplane.edits.all_edits import all_edits
from officeplane.edits.bookmark import SetBookmark
from officeplane.edits.comment import Comment, CommentReply, CommentState, GoneComment, NewComment
from officeplane.edits.contract import Edit
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.delete_page import DeletePage
from officeplane.edits.duplicate_node import DuplicateNode
from officeplane.edits.edit_node import EditNode
from officeplane.edits.edit_page import EditPage
from officeplane.edits.edit_table import EditTable, NewTableColumns, NewTableRows, TableRows
from officeplane.edits.fill_template import FillTemplate
from officeplane.edits.footnote import AddFootnote
from officeplane.edits.format import ApplyFormat
from officeplane.edits.image_fields import ONE_PIXEL
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.insert_image import InsertImage
from officeplane.edits.insert_table import InsertTable
from officeplane.edits.link import LinkToAddress, LinkToNode, SetLink
from officeplane.edits.move_node import MoveNode
from officeplane.edits.page_setup import PageSetup
from officeplane.edits.replace_image import ReplaceImage
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.review_changes import ReviewChanges
from officeplane.edits.set_properties import SetProperties
from officeplane.edits.update_contents import UpdateContents
from officeplane.edits.write_page import WritePage
from officeplane.formats.blank import blank
from officeplane.formats.search import Wanted
from officeplane.formats.word.document import Word
from officeplane.formats.word.names import element_name
from officeplane.formats.xml import Element
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import MAIN, applied, assert_sound, differing, nodes, occasion, opened, written

DOCUMENTS: Mapping[str, Callable[[], bytes]] = {
    **documents.HARD,
    "blank": lambda: blank(Format.DOCX, "Blank"),
    "few_pages": lambda: documents.long(3),
}
CONTENT = (
    "# Token title\n\nSome **bold** *leaning* ~~gone~~ `code` [link](https://example.org/)\\\nbroken\n\n- one\n"
    "  1. two\n\n> said\n\n"
    "| a | b |\n|---|---|\n| 1 | **2** |\n\n---\n\n```\ncode  here\n```\n"
)
BROUGHT = (
    f"{CONTENT}\n- [x] done\n\n![Token](data:image/png;base64,{ONE_PIXEL}) noted[^t]\n\n[^t]: A *token*\n\n    more\n"
)
"""Content with what is no text, for places in the text itself."""

ALLOWED = {
    MAIN, "word/footnotes.xml", "word/endnotes.xml", "word/settings.xml", "word/commentsExtended.xml",
    "word/_rels/document.xml.rels", "word/styles.xml", "word/numbering.xml", "word/comments.xml",
    "[Content_Types].xml", *(f"word/media/image{number}.png" for number in range(1, 5)),
}  # fmt: skip
OfNodes = EditNode | InsertContent | DeleteNode | MoveNode | DuplicateNode
LINES = {"paragraph", "heading", "item", "chapter", "section"}
HOLDERS = {"cell", "header", "footer", "footnote", "endnote", "text box"}
DELETABLE = LINES | {
    "page", "table", "row", "picture", "chart", "diagram", "text box", "footnote", "endnote", "page break",
    "content control", "formula",
}  # fmt: skip
OF_EACH_KIND = 1
REACHING = ApplyFormat | Comment | EditTable | PageSetup | ReplaceText | ReplaceImage | ReviewChanges | OfNodes
"""Edits that may change other texts than the body."""
PROPERTIES = {"docProps/core.xml", "_rels/.rels", "[Content_Types].xml"}


def edits_for(word: Word) -> list[Edit]:
    """Return every edit that a document can have, one that works on each of its nodes."""
    made: list[Edit] = [
        AddChapter(title="Token chapter"),
        AddChapter(title="Token chapter", position=0),
        AddSection(title="Token section"),
        AddSection(title="Token section", content=BROUGHT, position=0),
        WritePage(content=BROUGHT),
        WritePage(content="Token", position=0),
        WritePage(content=CONTENT, position=1),
        InsertTable(rows=[["x", 1], [2.5]], header=["Token"]),
        SetProperties(title="Token"),
    ]
    for node in nodes(word.outline()):
        match node.kind:
            case "chapter":
                made += [
                    AddSection(title="Token", chapter_id=node.id, position=0),
                    AddSection(title="Token", chapter_id=node.id, content=CONTENT),
                    WritePage(content=CONTENT, section_id=node.id, position=0),
                    WritePage(content="Token", section_id=node.id),
                    InsertTable(rows=[["Token"]], section_id=node.id),
                    AddComment(node_id=node.id, text="Token"),
                ]
            case "section":
                made += [
                    WritePage(content=BROUGHT, section_id=node.id),
                    InsertTable(rows=[["Token"]], section_id=node.id),
                    AddComment(node_id=node.id, text="Token"),
                ]
            case "page":
                made += [
                    DeletePage(page_id=node.id),
                    EditPage(page_id=node.id, content=BROUGHT, discard=True),
                    EditPage(page_id=node.id, content="", discard=True),
                    AddComment(node_id=node.id, text="Token\n\nsecond"),
                ]
            case _:
                pass
    tree = word.reader().tree.by_id.values()
    # The other nodes have a test of their own: test_pictures.py.
    made += [InsertImage(before=detail.id, base64=ONE_PIXEL, alt="Token") for detail in tree if detail.level][:2]
    made += [InsertImage(into=detail.id, base64=ONE_PIXEL, alt="Token") for detail in tree if detail.kind == "cell"][:1]
    made += [
        ReplaceImage(node_id=detail.id, base64=ONE_PIXEL, alt="Token") for detail in tree if detail.kind == "picture"
    ][:1]
    word_in_it = next((w for w in word.text().split() if w.isalpha() and word.places_of(Wanted(w))), None)
    if word_in_it is not None:
        made += [ReplaceText(find=word_in_it, replace="Token\nnew\tline"), ReplaceText(find=word_in_it, replace="")]
        under = word.places_of(Wanted(word_in_it))[0]
        made += [
            ReplaceText(find=r"(\w)(\w*)", replace=r"\2\1\n", regex=True),
            ReplaceText(find=word_in_it, replace="Token", nth=1),
            *([ReplaceText(find=r"\b\w+$|^.", replace="Token", regex=True, under=under)] if under else []),
        ]
    details = [*word.reader().tree.by_id.values()]
    made += [
        ApplyFormat.model_validate({"nodeId": one.id, "bold": True, "size": 9, "list": "bullet"})
        for one in [one for one in details if one.kind in {"paragraph", "heading", "item", "cell"}][::5]
    ]
    sized = {"border": "thin", "wrap": False, "height": 30}
    for one in [one for one in details if one.kind in {"table", "row"}][:3]:
        wide = {"width": 70} if one.kind == "table" else {}
        made.append(ApplyFormat.model_validate({"nodeId": one.id, **sized, **wide}))
    made += [ApplyFormat.model_validate({"nodeId": one.id, "width": 70}) for one in details if one.kind == "picture"][
        :1
    ]
    for detail in details:
        if detail.kind == "table":
            made += [
                EditTable(table_id=detail.id, cells={"A1": "Token"}, discard=True),
                EditTable(table_id=detail.id, insert_rows=NewTableRows(at=1), insert_columns=NewTableColumns(at="A")),
                EditTable(
                    table_id=detail.id,
                    insert_rows=NewTableRows(at=2, count=2),
                    delete_rows=TableRows(at=1) if detail.facts["rows"] > 1 else None,
                ),
                EditTable(table_id=detail.id, insert_columns=NewTableColumns(at="B"), header_row=True),
            ]
    if any(one.kind == "change" for one in details):
        made += [ReviewChanges(accept=True), ReviewChanges(reject=True)]
    made += [ApplyFormat(find=word_in_it, italic=True, heading_level=3)] if word_in_it is not None else []
    made += edits_of_nodes(word)
    made += comments_for(word)
    made += page_setups(word)
    made += marks(word)
    made += [UpdateContents()] if "[table of contents]" in word.text() else []
    made += [FillTemplate(values={"name": "Token"})] if "{{name}}" in word.text() else []
    return made


def comments_for(word: Word) -> list[Edit]:
    """Return a comment on a node of each kind, one on words, and all that can be done with the comments there are."""
    made: list[Edit] = []
    stories = word.finder().stories
    beside = {aside.story for aside in stories.asides}
    seen: set[str] = set()
    for node in word.reader().tree.by_id.values():
        if node.kind == "comment":
            made += [
                Comment(reply=CommentReply(comment_id=node.id, text="Token\nsecond")),
                Comment(resolve=CommentState(comment_id=node.id)),
                Comment(delete=GoneComment(comment_id=node.id)),
            ]
        elif node.kind not in seen and word.finder().find(node.id).story not in beside:
            seen.add(node.kind)
            made.append(Comment(add=NewComment(node_id=node.id, text="Token\n\nsecond")))
            first = next(iter(node.text.split()), None) if node.kind in LINES else None
            made += [] if first is None else [Comment(add=NewComment(node_id=node.id, text="Token", find=first))]
    return made


def page_setups(word: Word) -> list[Edit]:
    """Return what sets up all pages, and those from the middle of the text on."""
    around: dict[str, object] = {"header": CONTENT, "footer": None, "pageNumbers": {"position": "bottom-right"}}
    finder = word.finder()
    found = [finder.find(one.id) for one in word.reader().tree.by_id.values() if one.kind in {"paragraph", "heading"}]
    tops = [one for one in found if one.element.getparent() is finder.stories.body.story.container]
    made: list[Edit] = [PageSetup.model_validate({"orientation": "landscape", "columns": 2, "discard": True, **around})]
    for one in tops[len(tops) // 2 + 1 :][:1]:
        made += [
            PageSetup.model_validate({"nodeId": one.id, "break": kind, "size": "A5", "discard": True, **around})
            for kind in ("nextPage", "page")
        ]
    return made


def marks(word: Word) -> list[Edit]:
    """Return notes, links and bookmarks at the first and the last paragraph that says something."""
    finder = word.finder()
    found = [finder.find(one.id) for one in word.reader().tree.by_id.values() if one.kind in LINES and one.text.strip()]
    texts = [one for one in found if one.story is finder.stories.body.story and can_be_marked(one.element)]
    made: list[Edit] = []
    for one in dict.fromkeys([texts[0].id, texts[-1].id]) if texts else ():
        made += [
            AddFootnote(node_id=one, text="Token\nsecond"),
            AddFootnote(node_id=one, text="Token", endnote=True),
            SetLink(node_id=one, to=LinkToAddress(url="https://example.org/token")),
            SetLink(node_id=one, to=LinkToNode(node_id=texts[0].id)),
            SetBookmark(node_id=one, name="Token"),
        ]
    return made


def can_be_marked(paragraph: Element) -> bool:
    """Tell whether a paragraph holds no field or change and is in no box; to mark these has tests of its own."""
    no_place = {"fldChar", "fldSimple", "ins", "moveTo", "sdt"}
    names = {element_name(one) for one in (*paragraph.iter(), *paragraph.iterancestors())}
    return not names & {*no_place, "txbxContent"}


def is_whole(paragraph: Element) -> bool:
    """Tell whether nothing that reaches further begins or ends in a paragraph; what does has tests of its own."""
    return not any(element_name(one).endswith(("Start", "End", "sectPr", "fldChar")) for one in paragraph.iter())


def edits_of_nodes(word: Word) -> list[Edit]:
    """Return edits of single nodes, of the first ones of each kind."""
    made: list[Edit] = []
    finder = word.finder()
    found = [finder.find(one.id) for one in word.reader().tree.by_id.values() if one.kind == "paragraph"]
    texts = [one for one in found if one.story is finder.stories.body.story and is_whole(one.element)]
    made += [MoveNode(node_id=texts[0].id, after=texts[-1].id)] if len(texts) > 1 else []
    seen: Counter[str] = Counter()
    for node in word.reader().tree.by_id.values():
        seen[node.kind] += 1
        if seen[node.kind] > OF_EACH_KIND:
            continue
        if node.kind in LINES:
            made.append(EditNode(node_id=node.id, content="Token **bold** [link](https://example.org/)", discard=True))
        if node.kind in DELETABLE:
            made.append(DeleteNode(node_id=node.id))
        if node.kind in LINES | {"page", "table", "row"}:
            made.append(DuplicateNode(node_id=node.id))
        if node.kind in LINES | {"page", "table"}:
            made += [InsertContent(content=CONTENT, after=node.id), InsertContent(content="Token", before=node.id)]
        if node.kind in {"chapter", "section", "page"} and word.finder().find(node.id).place is not None:
            made += [InsertContent(content=CONTENT, into=node.id), InsertContent(content="Token", into=node.id)]
        if node.kind in HOLDERS and not node.mark:
            made += [InsertContent(content=CONTENT, into=node.id)]
            made.append(EditNode(node_id=node.id, content=CONTENT, discard=True))
    return made


@pytest.mark.parametrize("make", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_every_edit_leaves_every_document_sound_and_the_same_each_time(make: Callable[[], bytes]) -> None:
    data = make()
    base = written(opened(data))

    for edit in edits_for(opened(data)):
        if make is documents.fields_and_links and isinstance(
            edit, DeletePage | EditPage | EditNode | DeleteNode | DuplicateNode | AddFootnote | SetLink
        ):
            continue  # fields have a test of their own
        word = opened(data)
        result = applied(word, edit)

        assert_sound(word)
        assert written(word) == _applied_again(data, edit)
        # Headers that nothing shows any more go.
        changed = set[str]() if isinstance(edit, PageSetup) else differing(base, written(word))
        if isinstance(edit, SetProperties):
            assert changed <= PROPERTIES
        elif not isinstance(edit, REACHING) and not getattr(edit, "into", None):
            assert changed <= ALLOWED
        if isinstance(edit, InsertImage | ReplaceImage):
            assert word.reader().tree.by_id[result["id"]].name == "Token"
        if isinstance(edit, Comment):
            assert (result["id"] in word.reader().tree.by_id) == (edit.delete is None)
        elif not isinstance(edit, DeletePage | DeleteNode | SetProperties) and getattr(edit, "replace", None) != "":
            assert word.finder().find(result["id"])


def test_every_edit_of_word_is_tried_here() -> None:
    tried = {type(edit).task_type for make in DOCUMENTS.values() for edit in edits_for(opened(make()))}

    assert tried == {name for name, edit in all_edits().items() if Format.DOCX in edit.formats()}


@pytest.mark.parametrize("make", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_reading_a_document_changes_nothing_in_it(make: Callable[[], bytes]) -> None:
    word = opened(make())
    before = written(word)

    word.outline()
    word.text()
    word.places_of(Wanted("a"))
    for node in nodes(word.outline()):
        word.fingerprint(node.id)

    assert written(word) == before


def test_an_edit_that_fails_leaves_nothing_behind_after_a_rollback() -> None:
    word = opened(documents.chapters())
    before = written(word)
    outline = word.outline()
    applied(word, AddChapter(title="New"), ReplaceText(find="hello", replace="bye"))

    word.package.rollback()

    assert word.outline() == outline
    assert written(word) == before


def _applied_again(data: bytes, edit: Edit) -> bytes:
    word = opened(data)
    edit.apply(word, occasion(0))
    return written(word)
