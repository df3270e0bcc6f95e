import pytest
from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_chapter import AddChapter
from officeplane.edits.add_comment import AddComment
from officeplane.edits.add_section import AddSection
from officeplane.edits.delete_page import DeletePage
from officeplane.edits.edit_page import EditPage
from officeplane.edits.write_page import WritePage
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import (
    W,
    applied,
    assert_sound,
    node,
    nodes,
    occasion,
    opened,
    parts,
    reopened,
    shape,
    written,
    xml,
)


def test_chapters_and_sections_are_found_in_any_language() -> None:
    word = opened(documents.foreign_language())

    assert shape(word) == [
        ("page", "Inhalt"),
        (
            "chapter",
            "Kapitel",
            [("page", "Über Größe"), ("section", "Abschnitt", [("page", "日本語 🎉 עברית")])],
        ),
        ("chapter", "Nur die Ebene"),
    ]
    applied(word, AddChapter(title="Neu"))
    assert reopened(word).paragraphs[-1].style.style_id == "berschrift1"  # type: ignore[union-attr]


def test_missing_styles_are_made() -> None:
    word = opened(documents.without_styles())

    applied(word, AddSection(title="Section", content="> said\n\n```\ncode\n```\n\n### deep"))

    names = {style.name for style in reopened(word).styles}
    assert {"Heading 2", "Quote", "HTML Preformatted", "Heading 5"} <= names
    assert_sound(word)


def test_content_goes_to_its_place() -> None:
    word = opened(documents.chapters())
    alpha, one = node(word, "Alpha").id, node(word, "Alpha one").id

    applied(
        word,
        WritePage(content="last of alpha one", section_id=one),
        WritePage(content="first of alpha one", section_id=one, position=0),
        WritePage(content="in alpha itself", section_id=alpha),
        AddSection(title="Alpha zero", chapter_id=alpha, position=0, content="zero"),
        AddChapter(title="Between", position=1),
        WritePage(content="the end"),
    )

    assert shape(word) == [
        ("page", "Front matter"),
        (
            "chapter",
            "Alpha",
            [
                ("page", "Alpha says hello."),
                ("page", "in alpha itself"),
                ("section", "Alpha zero", [("page", "zero")]),
                (
                    "section",
                    "Alpha one",
                    [
                        ("page", "first of alpha one"),
                        ("page", "First of alpha one.\nSecond of alpha one."),
                        ("page", "last of alpha one"),
                    ],
                ),
                ("section", "Alpha two", [("page", "Text of alpha two.")]),
            ],
        ),
        ("chapter", "Between"),
        ("chapter", "Beta", [("section", "Beta one", [("page", "Text of beta one."), ("page", "the end")])]),
    ]


def test_a_page_keeps_its_id_when_its_content_is_another() -> None:
    word = opened(documents.chapters())
    page = applied(word, WritePage(content="one"))["id"]
    old = node(word, "Text of alpha two.").id

    applied(word, EditPage(page_id=page, content="# Title\n\ntwo"), EditPage(page_id=old, content="three"))

    again = opened(written(word))
    assert node(again, "Title\ntwo").id == page
    assert node(again, "three").id == old


def test_headings_inside_a_page_are_no_sections() -> None:
    word = opened(documents.chapters())

    applied(word, WritePage(content="# a\n\n## b\n\n###### c"))

    assert [paragraph.style.name for paragraph in reopened(word).paragraphs[-3:]] == [  # type: ignore[union-attr]
        "Heading 3", "Heading 4", "Heading 8",
    ]  # fmt: skip


def test_lists_count_and_nest() -> None:
    word = opened(documents.empty())

    applied(word, WritePage(content="1. a\n2. b\n   - x\n   - y\n3. c\n\ntext\n\n1. again\n"))

    root = etree.fromstring(xml(word).encode())
    numbers = [found.get(f"{W}val") for found in root.iter(f"{W}numId")]
    levels = [found.get(f"{W}val") for found in root.iter(f"{W}ilvl")]
    lists = list(zip(numbers, levels, strict=True))
    first, bullets, second = lists[0][0], lists[2][0], lists[5][0]
    assert len({first, bullets, second}) == 3
    assert lists == [(first, "0"), (first, "0"), (bullets, "1"), (bullets, "1"), (first, "0"), (second, "0")]
    assert_sound(word)


def test_a_list_counts_on_after_what_stands_between_its_items() -> None:
    word = opened(documents.empty())

    applied(word, WritePage(content="5. a\n\n   ```\n   code\n   ```\n6. b\n   - x\n\n   after\n7. c\n"))

    root = etree.fromstring(xml(word).encode())
    numbers = [found.get(f"{W}val") for found in root.iter(f"{W}numId")]
    assert numbers == [numbers[0], numbers[0], numbers[2], numbers[0]]
    lists = etree.fromstring(parts(written(word))["word/numbering.xml"])
    (begun,) = lists.iterfind(f"{W}num[@{W}numId='{numbers[0]}']/{W}lvlOverride/{W}startOverride")
    assert begun.get(f"{W}val") == "5"
    assert_sound(word)


def test_the_bookmark_of_a_page_has_a_number_of_its_own_beside_those_that_stay_in_it() -> None:
    target = documents.paragraph(
        '<w:bookmarkStart w:id="0" w:name="_Ref1"/>' + documents.run("here") + '<w:bookmarkEnd w:id="0"/>'
    )
    word = opened(documents.document(target))

    applied(word, EditPage(page_id=node(word, "here").id, content="there"))

    assert_sound(word)
    assert 'w:id="0" w:name="_Ref1"' in xml(word)


def test_links_lead_outside_only_by_http_and_mail() -> None:
    word = opened(documents.empty())
    content = "[a](<https://example.com/ä b>) [b](javascript:x) [c](mailto:a@b.c) [d](<https://example.com/ä b>)"

    applied(word, WritePage(content=content))

    targets = {rel.target_ref for rel in reopened(word).part.rels.values() if rel.is_external}
    assert targets == {"https://example.com/%C3%A4%20b", "mailto:a@b.c"}
    assert xml(word).count("<w:hyperlink") == 3


def test_a_deleted_page_leaves_what_others_tied_to_it() -> None:
    word = opened(documents.comments())
    page = node(word, "remarked referred\nbegins here").id

    applied(word, DeletePage(page_id=page))

    assert xml(word).count('w:name="_Ref123"') == 1
    for number in ("0", "4"):
        assert xml(word).count(f'<w:commentReference w:id="{number}"/>') == 1
        assert xml(word).count(f'<w:commentRangeStart w:id="{number}"/>') == 1
    assert shape(word) == [
        ("chapter", "Discussed", [("comment", "inside")]),
        ("chapter", "Second", [("page", "ends here", [("comment", "across")])]),
    ]
    assert_sound(word)


def test_an_edited_page_keeps_its_comments() -> None:
    word = opened(documents.comments())
    page = node(word, "remarked referred\nbegins here").id

    applied(word, EditPage(page_id=page, content="new"))

    assert shape(word)[0] == ("chapter", "Discussed", [("page", "new", [("comment", "inside")])])
    assert_sound(word)


def test_a_deleted_page_leaves_the_break_between_papers() -> None:
    word = opened(documents.papers())

    applied(
        word,
        DeletePage(page_id=node(word, "The last upright words").id),
        DeletePage(page_id=node(word, "Wide words").id),
    )

    sections = reopened(word).sections
    assert [section.orientation for section in sections] == [0, 1, 0]


def test_what_is_added_to_a_section_stays_on_its_paper() -> None:
    word = opened(documents.papers())

    applied(
        word,
        WritePage(content="more upright", section_id=node(word, "Upright").id),
        WritePage(content="more wide", section_id=node(word, "Wide").id),
        AddSection(title="Wide section", chapter_id=node(word, "Wide").id),
    )

    body = reopened(word)
    texts = [[getattr(block, "text", "") for block in section.iter_inner_content()] for section in body.sections]
    assert [[text for text in section if text] for section in texts] == [
        ["Upright", "The last upright words", "more upright"],
        ["Wide", "Wide words", "more wide", "Wide section"],
        ["Upright again", "The end"],
    ]


def test_a_page_that_word_saved_is_still_the_page() -> None:
    word = opened(documents.saved_by_word())

    applied(
        word,
        EditPage(page_id="page-0123456789ab", content="edited"),
        WritePage(content="inserted", section_id=node(word, "Kept").id, position=1),
        DeletePage(page_id="page-ba9876543210"),
        WritePage(content="last", section_id=node(word, "Kept").id),
    )

    assert shape(word) == [
        ("chapter", "Kept", [("page", "edited"), ("page", "inserted"), ("page", "Somebody's text"), ("page", "last")]),
        ("chapter", "Next"),
    ]
    assert_sound(word)


def test_a_page_that_libreoffice_saved_takes_nothing_of_others_with_it() -> None:
    word = opened(documents.saved_by_libreoffice())
    whole = ("page", "First line\nSecond line\nLast line")
    assert shape(word) == [
        (
            "chapter",
            "Kept",
            [whole, ("page", "Somebody's text"), ("page", "Endless"), ("page", "Somebody's other text")],
        )
    ]

    applied(word, EditPage(page_id="page-0123456789ab", content="edited"), DeletePage(page_id="page-ba9876543210"))

    assert "edited\nSomebody's text\nSomebody's other text" in word.text()
    assert xml(word).count("_op_page_0123456789ab") == 1
    assert xml(word).count("_op_page_ba9876543210") == 0
    assert node(word, "edited").id == "page-0123456789ab"


def test_half_a_field_is_not_taken_out() -> None:
    word = opened(documents.fields_and_links())
    contents = node(word, "Alpha…1\nBeta…2").id

    applied(word, EditPage(page_id=contents, content="no contents", discard=True))  # the whole of it may go

    assert "TOC" not in xml(word)
    half = opened(documents.document(_HALF))
    with pytest.raises(InvalidEditError, match="field"):
        applied(half, DeletePage(page_id=node(half, "begins").id))


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD)
def test_no_edit_says_that_a_node_of_the_outline_is_not_there(make: documents.Make) -> None:
    for known in nodes(opened(make()).outline()):
        for edit in (
            EditPage(page_id=known.id, content="x", discard=True),
            DeletePage(page_id=known.id),
            WritePage(content="x", section_id=known.id),
            AddSection(title="x", chapter_id=known.id),
            AddComment(node_id=known.id, text="x"),
        ):
            try:
                applied(opened(make()), edit)
            except InvalidEditError as refused:
                assert f"{known.id!r} " in str(refused)  # noqa: PT017 - many of them work
                assert "there is no " not in str(refused)  # noqa: PT017


def test_a_refusal_says_what_a_node_is_and_what_to_name_instead() -> None:
    word = opened(documents.headers_and_footers())
    header = next(one.id for one in nodes(word.outline()) if one.kind == "header")
    chapter = node(word, "Body")

    with pytest.raises(InvalidEditError, match="is a header, beside the text: only replace_text and fill_template"):
        applied(word, EditPage(page_id=header, content="x"))
    with pytest.raises(
        InvalidEditError, match=f"is a chapter; give the id of a page, such as '{chapter.children[0].id}'"
    ):
        applied(word, EditPage(page_id=chapter.id, content="x"))


def test_headings_are_no_pages_and_pages_no_headings() -> None:
    word = opened(documents.chapters())
    page, chapter = node(word, "Front matter").id, node(word, "Alpha").id
    section = node(word, "Alpha one").id

    for edit in (
        DeletePage(page_id=chapter),
        EditPage(page_id=section, content="x"),
        WritePage(content="x", section_id=page),
        AddSection(title="x", chapter_id=section),
    ):
        with pytest.raises(InvalidEditError, match=r"is a (chapter|section|page); give"):
            edit.apply(word, occasion())
    with pytest.raises(InvalidEditError, match="no node 'page-nowhere'"):
        applied(word, DeletePage(page_id="page-nowhere"))


def test_a_heading_that_is_written_anew_keeps_its_fingerprint_apart_from_its_pages() -> None:
    word = opened(documents.chapters())
    chapter, page = node(word, "Alpha").id, node(word, "Alpha says hello.").id
    before = word.fingerprint(chapter), word.fingerprint(page)

    applied(word, WritePage(content="more", section_id=chapter), EditPage(page_id=page, content="other"))

    assert word.fingerprint(chapter) == before[0]
    assert word.fingerprint(page) not in {before[1], None}
    assert word.fingerprint("page-nowhere") is None


_HALF = (
    documents.paragraph('<w:r><w:fldChar w:fldCharType="begin"/></w:r>' + documents.run("begins"))
    + documents.heading(1, "Next")
    + documents.paragraph('<w:r><w:fldChar w:fldCharType="end"/></w:r>')
)
