"""Kinds of presentations that other programs write."""

import pytest

from officeplane.domain.document import InvalidEditError, UnsupportedDocumentError
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.edits.set_properties import SetProperties
from officeplane.edits.write_page import WritePage
from officeplane.formats.gate import admit
from officeplane.formats.relationships import Relationships
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import applied, differing, opened, parts, reopened, written

RELATIONSHIPS = "application/vnd.openxmlformats-package.relationships+xml"


def test_a_layout_whose_name_has_a_line_break_is_listed_and_named_in_one_line() -> None:
    deck = opened(powerpoint.each_part_named())

    with pytest.raises(InvalidEditError, match="there are 'Title Slide', 'Title and content', 'Section Header'"):
        applied(deck, AddSlide(layout="Fancy", title="x"))
    applied(deck, AddSlide(layout="Title and content", title="Other"))

    assert reopened(written(deck)).slides[1].slide_layout.part.partname == "/ppt/slideLayouts/slideLayout2.xml"


def test_new_parts_are_named_where_the_kind_of_each_part_is() -> None:
    deck = opened(powerpoint.each_part_named())

    applied(
        deck,
        WritePage(content="# New\n\n[there](https://example.org/)\n\n|a|\n|-|\n|[here](https://example.com/)|"),
        AddSlide(title="Newer", notes="Say so"),
        SetProperties(title="Named"),
    )

    data = written(deck)
    types = parts(data)["[Content_Types].xml"].decode()
    rels = [name for name in parts(data) if name.endswith(".rels")]
    assert [name for name in rels if f'PartName="/{name}" ContentType="{RELATIONSHIPS}"' not in types] == []
    assert [name for name in parts(data) if name.startswith("docProps/core")] == ["docProps/core.xml"]
    assert parts(data)["_rels/.rels"].count(b"docProps/core.xml") == 1
    assert b">Named<" in parts(data)["docProps/core.xml"]


def test_an_arrow_to_a_deleted_slide_that_nobody_uses_goes_without_a_word() -> None:
    deck = opened(powerpoint.plain())
    Relationships(deck.package, "ppt/slides/slide1.xml").add("slide", "ppt/slides/slide2.xml")
    before = deck.package.write().content()

    result = applied(deck, DeleteSlide(slide_id="slide-257"))

    assert result == {"id": "slide-257"}
    assert "ppt/slides/_rels/slide1.xml.rels" in differing(before, written(deck))
    assert "ppt/slides/slide1.xml" not in deck.package.renewed


def test_a_link_without_a_scheme_is_refused_as_the_share_that_it_is_to_windows() -> None:
    deck = opened(powerpoint.plain())
    Relationships(deck.package, "ppt/slides/slide2.xml").add("hyperlink", "//example.org/a.jpg", is_external=True)

    with pytest.raises(UnsupportedDocumentError, match=r'names a share, .*; .* write "https:" before it') as refused:
        admit(deck.package.write().content())

    assert refused.value.reason == "external_reference"


def test_a_file_with_something_behind_its_end_is_refused_with_the_way_out() -> None:
    with pytest.raises(UnsupportedDocumentError, match="something follows its end; a program that saves it anew"):
        admit(powerpoint.plain() + b"\0")
