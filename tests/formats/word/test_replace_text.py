import pytest
from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.edits.fill_template import FillTemplate
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.write_page import WritePage
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import W, applied, node, opened, parts, reopened, written, xml


def test_a_text_over_several_runs_takes_the_formatting_it_begins_with() -> None:
    word = opened(documents.split_runs())

    told = applied(word, ReplaceText(find="Hello world", replace="Bye"))

    first = reopened(word).paragraphs[0]
    assert [(run.text, run.bold) for run in first.runs] == [("Bye", True)]
    assert told["replaced"] == 1


def test_what_surrounds_the_text_keeps_its_runs() -> None:
    word = opened(documents.split_runs())

    applied(word, ReplaceText(find="lo wor", replace="p! Wor"))

    first = reopened(word).paragraphs[0]
    assert [(run.text, run.bold, run.italic) for run in first.runs] == [
        ("Hel", True, None), ("p! Wor", None, True), ("ld", None, None),
    ]  # fmt: skip


def test_a_name_in_braces_is_filled_across_runs_and_bookmarks() -> None:
    word = opened(documents.split_runs())

    told = applied(word, FillTemplate(values={"name": "Ada & <Bo>"}))

    assert told["filled"] == {"name": 1}
    assert "Ada & <Bo> is <here> & there" in word.text()
    assert xml(word).count('w:name="inside"') == 1


def test_a_value_that_looks_like_a_placeholder_is_not_filled_again() -> None:
    word = opened(documents.empty())
    content = "{{a}} and {{bb}} and {{{{c}}bb}}"

    told = applied(word, WritePage(content=content), FillTemplate(values={"a": "{{bb}}", "bb": "{{a}}", "c": "x"}))

    assert word.text() == "{{bb}} and {{a}} and {{xbb}}"
    assert told["filled"] == {"a": 1, "bb": 1, "c": 1}


def test_a_control_holds_what_was_written_and_no_longer_what_it_is_bound_to() -> None:
    def bound(words: str) -> str:
        about = "<w:alias w:val='A'/><w:showingPlcHdr/><w:dataBinding w:xpath='/a' w:storeItemID='{1}'/><w:text/>"
        return f"<w:sdt><w:sdtPr>{about}</w:sdtPr><w:sdtContent>{documents.run(words)}</w:sdtContent></w:sdt>"

    word = opened(documents.document(documents.paragraph(bound("Acme") + documents.run(" Acme ") + bound("other"))))

    applied(word, ReplaceText(find="Acme", replace="Globex"))

    first, second = etree.fromstring(xml(word).encode()).iter(f"{W}sdtPr")
    assert word.text() == "Globex Globex other"
    assert [child.tag for child in first] == [f"{W}alias", f"{W}text"]
    assert len(second) == 4


def test_tabs_and_breaks_are_part_of_the_text_and_of_what_replaces_it() -> None:
    word = opened(documents.split_runs())

    applied(word, ReplaceText(find="one\ttwo\nthree", replace="1\n2\t3"))

    assert reopened(word).paragraphs[2].text == "1\n2\t3"
    assert '<w:tab w:val="left" w:pos="2000"/>' in xml(word)


def test_many_places_in_one_paragraph_are_replaced_each_once() -> None:
    word = opened(documents.split_runs())

    told = applied(word, ReplaceText(find="xx", replace="xyx"))

    assert told["replaced"] == 25
    assert "xyx" * 25 in word.text()


def test_spaces_at_the_edges_are_kept() -> None:
    word = opened(documents.split_runs())

    applied(word, ReplaceText(find="one\t", replace=" one  "))

    assert '<w:t xml:space="preserve"> one  </w:t>' in xml(word)


def test_deleted_text_is_no_text_and_inserted_text_is() -> None:
    word = opened(documents.tracked_changes())

    told = applied(word, ReplaceText(find="Hello brave", replace="Hi big"))

    assert told["replaced"] == 1
    assert "cruel " in xml(word)
    assert word.text().startswith("Hi big world")
    with pytest.raises(InvalidEditError, match="cruel"):
        applied(word, ReplaceText(find="cruel", replace=""))


def test_words_moved_away_stay_and_the_moved_ones_are_replaced() -> None:
    word = opened(documents.tracked_changes())

    told = applied(word, ReplaceText(find="moved words", replace="here"))

    assert told["replaced"] == 1
    assert xml(word).count("moved words") == 1


def test_nested_tables_are_searched() -> None:
    word = opened(documents.nested_tables())

    assert applied(word, ReplaceText(find="inner", replace="within"))["replaced"] == 3
    assert applied(word, ReplaceText(find="second", replace="2nd"))["replaced"] == 2
    assert reopened(word).tables[0].cell(1, 1).tables[0].cell(0, 1).text == "within right"


def test_a_text_box_counts_once_though_it_is_there_twice() -> None:
    word = opened(documents.text_boxes())

    told = applied(word, ReplaceText(find="the box", replace="a frame"))

    assert told["replaced"] == 2
    assert word.text() == "Boxes\naround a frame\nin a frame\nafter"
    assert xml(word).count("a frame") == 3


def test_headers_footers_and_notes_are_searched_and_the_page_number_stays() -> None:
    data = documents.headers_and_footers()
    word = opened(data)

    told = applied(word, ReplaceText(find="ACME", replace="Umbrella"))

    assert told["replaced"] == 4
    assert len(told["ids"]) == 4
    assert reopened(word).sections[0].header.paragraphs[0].runs[0].bold
    assert any(b" PAGE " in content for content in parts(written(word)).values())

    notes = opened(documents.footnotes())
    assert applied(notes, ReplaceText(find="The", replace="Some"))["ids"] == ["footnotes", "endnotes"]


def test_links_and_fields_stay_around_what_is_replaced_in_them() -> None:
    word = opened(documents.fields_and_links())

    applied(word, ReplaceText(find="the site and here", replace="this"), ReplaceText(find="a+b", replace="c\nd"))

    assert xml(word).count("<w:hyperlink") == 2
    assert "<m:t>c d</m:t>" in xml(word)
    assert "See this by Ada" in word.text()


def test_controls_are_searched() -> None:
    word = opened(documents.content_controls())

    assert applied(word, ReplaceText(find="too", replace="also"))["replaced"] == 2
    assert applied(word, ReplaceText(find="a choice made", replace="chosen"))["replaced"] == 1
    assert xml(word).count("<w:sdt>") == 4


def test_a_heading_in_a_control_keeps_its_id_when_it_gets_another_title() -> None:
    word = opened(documents.content_controls())
    before = node(word, "Held heading").id

    told = applied(word, ReplaceText(find="Held heading", replace="Chapter"))

    assert told["ids"] == [before]
    assert node(opened(written(word)), "Chapter").id == before
    assert node(word, "Chapter").children[0].text == "end"


def test_case_and_words_are_as_asked() -> None:
    word = opened(documents.chapters())

    assert applied(word, ReplaceText(find="ALPHA ONE", replace="first", match_case=False))["replaced"] == 3
    assert applied(word, ReplaceText(find="alph", replace="x", whole_word=True, expected_count=0))["replaced"] == 0


def test_a_wrong_count_or_a_text_that_is_not_there_is_refused() -> None:
    word = opened(documents.chapters())

    with pytest.raises(InvalidEditError, match="stands 4 times"):
        applied(word, ReplaceText(find="Alpha", replace="x", expected_count=2))
    with pytest.raises(InvalidEditError, match="does not stand"):
        applied(word, ReplaceText(find="Gamma", replace="x"))


def test_only_the_part_with_the_text_changes() -> None:
    data = documents.headers_and_footers()
    word = opened(data)
    before = parts(written(opened(data)))

    applied(word, ReplaceText(find="ACME first", replace="x"))

    after = parts(written(word))
    assert [name for name in after if after[name] != before[name]] == ["word/header3.xml"]
