"""Tables of contents: written anew from the headings, with the page numbers that were known."""

import re
from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.bookmark import SetBookmark
from officeplane.edits.contract import Result
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.edit_node import EditNode
from officeplane.edits.format import ApplyFormat
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.update_contents import UpdateContents
from officeplane.formats.word.contents_table.instruction import read_instruction
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import MAIN, W, applied, assert_sound, opened, xml

BEGIN = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
SEPARATE = '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
END = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
TAB = "<w:r><w:tab/></w:r>"
LOOK = '<w:tabs><w:tab w:val="right" w:leader="dot" w:pos="9000"/></w:tabs><w:rPr><w:noProof/></w:rPr>'
TOC_1 = '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'


def instruction(text: str) -> str:
    return f'<w:r><w:instrText xml:space="preserve">{text}</w:instrText></w:r>'


def entry(title: str, page: int, bookmark: str, before: str = "") -> str:
    reference = f"{BEGIN}{instruction(f' PAGEREF {bookmark} ')}{SEPARATE}{documents.run(str(page))}{END}"
    link = f'<w:hyperlink w:anchor="{bookmark}">{documents.run(title, "<w:i/>")}{TAB}{reference}</w:hyperlink>'
    return documents.paragraph(before + link, f'<w:pStyle w:val="TOC1"/>{LOOK}')


def marked(level: int, title: str, bookmark: str, number: int) -> str:
    inside = (
        f'<w:bookmarkStart w:id="{number}" w:name="{bookmark}"/>{documents.run(title)}<w:bookmarkEnd w:id="{number}"/>'
    )
    return documents.paragraph(inside, f'<w:pStyle w:val="Heading{level}"/>')


def book(said: str = ' TOC \\o "1-2" \\h \\z \\u ', *, control: bool = False, behind: str = "") -> bytes:
    """A table of contents as Word writes it, of two headings with bookmarks."""
    contents = entry("One", 3, "_Toc1", BEGIN + instruction(said) + SEPARATE) + entry("Two", 7, "_Toc2")
    contents += documents.paragraph(END + behind)
    if control:
        gallery = '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>'
        contents = (
            f"<w:sdt><w:sdtPr><w:id w:val='5'/>{gallery}</w:sdtPr><w:sdtContent>{contents}</w:sdtContent></w:sdt>"
        )
    body = marked(1, "One", "_Toc1", 1) + documents.text("words") + marked(1, "Two", "_Toc2", 2)
    return documents.document(documents.text("Before") + contents + body, styles=TOC_1)


def updated(word: Word, **payload: Any) -> Result:
    result = applied(word, UpdateContents.model_validate(payload))
    assert_sound(word)
    assert word.finder().find(result["id"])
    return result


def entries(word: Word) -> list[str]:
    """Return the lines of the table of contents."""
    lines = word.text().split("\n")
    return [line.removesuffix(" [table of contents]") for line in lines if "\t" in line]


def styles_of(word: Word) -> list[str]:
    found = word.package.tree(MAIN).iter(f"{W}pStyle")
    return [style for one in found if (style := one.get(f"{W}val", "")).startswith("TOC")]


@pytest.mark.parametrize("control", [False, True])
def test_contents_list_the_headings_there_are_with_the_pages_that_were_known(control: bool) -> None:
    word = opened(book(control=control))
    two = next(one.id for one in word.outline() if one.text == "Two")
    applied(
        word,
        EditNode(node_id=two, text="Second"),
        InsertContent(content="# Third\n\nwords\n\n## Below", after=next(one.id for one in word.outline()[::-1])),
    )

    result = updated(word)

    assert entries(word) == ["One\t3", "Second\t7", "Third\t", "Below\t"]
    assert styles_of(word) == ["TOC1", "TOC1", "TOC1", "TOC2"]
    assert (result["entries"], [one["code"] for one in result["warnings"]]) == (4, ["stale_pages"])
    assert xml(word).count('w:dirty="true"') == 1
    assert xml(word).count("<w:i/>") == 3
    names = [one.get(f"{W}anchor") for one in word.package.tree(MAIN).iter(f"{W}hyperlink")]
    assert names[:2] == ["_Toc1", "_Toc2"]
    assert all(f'w:name="{name}"' in xml(word) and f"PAGEREF {name} " in xml(word) for name in names)


def test_contents_that_are_right_say_the_same_after_an_update() -> None:
    word = opened(book())
    text = word.text()

    updated(word)
    assert word.text() == text
    once = re.sub(r'w14:paraId="\w+"', "", xml(word))
    updated(word)

    assert re.sub(r'w14:paraId="\w+"', "", xml(word)) == once


def test_a_heading_that_went_is_listed_no_more() -> None:
    word = opened(book(control=True))
    applied(word, DeleteNode(node_id=next(one.id for one in word.outline() if one.text == "One")))

    updated(word, nodeId="control-5")

    assert entries(word) == ["Two\t7"]


def test_contents_that_were_never_filled_are_filled() -> None:
    empty = documents.paragraph(BEGIN + instruction(' TOC \\o "1-3" ') + SEPARATE + documents.run("Update me") + END)
    word = opened(documents.document(empty + documents.heading(1, "Same") + documents.heading(2, "Same")))

    updated(word)

    assert entries(word) == ["Same\t", "Same\t"]
    assert "Update me" not in word.text()
    assert "w:hyperlink" not in xml(word)
    assert styles_of(word) == ["TOC1", "TOC2"]
    assert '<w:tab w:val="right" w:leader="dot" w:pos="9026"/>' in xml(word)


def test_a_simple_field_becomes_one_that_reaches_over_paragraphs() -> None:
    simple = f'<w:fldSimple w:instr=" TOC \\o ">{documents.run("nothing")}</w:fldSimple>'
    word = opened(
        documents.document(documents.paragraph(simple) + documents.heading(1, "One") + documents.heading(2, "Two"))
    )

    updated(word)

    assert entries(word) == ["One\t", "Two\t"]
    assert "fldSimple" not in xml(word)


def test_what_stands_behind_contents_in_their_last_paragraph_stays() -> None:
    word = opened(book(behind=documents.run("behind")))

    updated(word)

    assert entries(word) == ["One\t3", "Two\t7"]
    assert "\nbehind\n" in word.text()


def test_bookmarks_and_comments_in_contents_outlive_the_entries() -> None:
    word = opened(book())
    first = next(one.id for one in word.reader().tree.by_id.values() if one.text.startswith("One\t"))
    applied(word, SetBookmark(node_id=first, name="here"))

    updated(word)

    assert 'w:name="here"' in xml(word)


def test_levels_styles_and_outlines_are_listed_as_the_field_says() -> None:
    special = '<w:style w:type="paragraph" w:styleId="Sp"><w:name w:val="Special"/></w:style>'
    level = documents.paragraph(documents.run("outlined"), '<w:outlineLvl w:val="1"/>')
    body = documents.heading(1, "One") + documents.heading(2, "Two") + documents.text("special", "Sp") + level

    def listed(said: str) -> list[str]:
        contents = documents.paragraph(BEGIN + instruction(said) + SEPARATE + END)
        word = opened(documents.document(contents + body, styles=special))
        updated(word)
        return [line.split("\t")[0] for line in entries(word)]

    assert listed(' TOC \\o "1-1" ') == ["One"]
    assert listed(' TOC \\o "1-1" \\t "Special,2" ') == ["One", "special"]
    assert listed(" TOC \\u ") == ["One", "Two", "outlined"]
    assert listed(' TOC \\o "2-3" \\u ') == ["Two", "outlined"]
    assert listed(" TOC ") == ["One", "Two"]


def test_numbers_of_headings_are_listed_and_pages_left_out_where_the_field_says_so() -> None:
    contents = documents.paragraph(BEGIN + instruction(' TOC \\o "1-2" \\n 2-2 ') + SEPARATE + END)
    word = opened(documents.document(contents + documents.heading(1, "One") + documents.heading(2, "Two")))
    heading = next(one.id for one in word.outline() if one.text == "One")
    applied(word, ApplyFormat.model_validate({"nodeId": heading, "list": "number"}))

    updated(word)

    assert entries(word) == ["1.\tOne\t"]
    assert xml(word).count("PAGEREF") == 1


def test_a_table_of_figures_is_left_to_word_and_told() -> None:
    figures = documents.paragraph(
        BEGIN + instruction(' TOC \\h \\c "Figure" ') + SEPARATE + documents.run("Fig 1") + END
    )
    word = opened(documents.document(figures + documents.heading(1, "One")))

    result = updated(word)

    assert result["warnings"][0]["detail"].startswith("a table lists captions")
    assert "Fig 1" in word.text()
    with pytest.raises(InvalidEditError, match="lists captions, not headings"):
        updated(word, nodeId=result["id"])


def test_marked_entries_are_left_to_word_only_where_there_are_any() -> None:
    contents = documents.paragraph(BEGIN + instruction(' TOC \\f \\o "1-9" \\h') + SEPARATE + END)
    marked_entry = documents.paragraph(BEGIN + instruction(' TC "Marked" ') + END)
    word = opened(documents.document(contents + documents.heading(1, "One")))
    updated(word)
    assert entries(word) == ["One\t"]

    word = opened(documents.document(contents + documents.heading(1, "One") + marked_entry))

    assert updated(word)["warnings"][0]["detail"].startswith("a table lists marked entries")


def test_who_has_no_contents_or_no_headings_is_told() -> None:
    with pytest.raises(InvalidEditError, match="the text has no table of contents"):
        updated(opened(documents.chapters()))
    with pytest.raises(InvalidEditError, match="no headings"):
        updated(opened(documents.document(documents.paragraph(BEGIN + instruction(" TOC ") + SEPARATE + END))))
    behind = documents.paragraph(documents.run("before ") + BEGIN + instruction(" TOC ") + SEPARATE + END)
    with pytest.raises(InvalidEditError, match="says something else before it"):
        updated(opened(documents.document(behind + documents.heading(1, "One"))))


@pytest.mark.parametrize("said", ["PAGE", "", " HYPERLINK \\l x ", "TOCX"])
def test_other_fields_are_no_contents(said: str) -> None:
    assert read_instruction(said) is None


def test_the_pages_of_two_entries_that_are_called_the_same_are_not_mixed_up() -> None:
    lines = "".join(documents.paragraph(documents.run("Same") + TAB + documents.run(page)) for page in ("4", "9"))
    begin = documents.paragraph(BEGIN + instruction(" TOC ") + SEPARATE)
    word = opened(documents.document(begin + lines + documents.paragraph(END) + documents.heading(1, "Same")))

    updated(word)

    assert entries(word) == ["Same\t"]
