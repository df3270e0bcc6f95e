import pytest
from lxml import etree

from officeplane.domain.document import InvalidEditError, UnsupportedDocumentError
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.edits.edit_page import EditPage
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.move_slide import MoveSlide
from officeplane.edits.set_notes import SetNotes
from officeplane.edits.write_page import WritePage
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import A, applied, differing, opened, parts, reopened, slides_of, titles, written

CONTENT = """# The title

Plain with **bold**, *slanted*, ~~struck~~, `code` and a [link](https://example.org/).

- first
  - deeper
1. counted

> quoted

```
kept
  as is
```
"""


def test_a_page_is_a_slide_with_its_first_heading_as_title() -> None:
    deck = opened(powerpoint.plain())

    result = applied(deck, WritePage(content=CONTENT))

    slide = reopened(written(deck)).slides[3]
    assert result["id"] == "slide-259"
    assert slide.slide_layout.name == "Title and Content"
    assert slide.shapes.title.text == "The title"
    body = slide.placeholders[1].text_frame
    assert [(each.text, each.level) for each in body.paragraphs] == [
        ("Plain with bold, slanted, struck, code and a link.", 0),
        ("first", 0),
        ("deeper", 1),
        ("counted", 0),
        ("quoted", 0),
        ("kept\v  as is", 0),
    ]
    formats = {run.text: run for run in body.paragraphs[0].runs}
    assert formats["bold"].font.bold is True
    assert formats["slanted"].font.italic is True
    assert formats["struck"]._r.rPr.get("strike") == "sngStrike"
    assert formats["code"].font.name == "Courier New"
    assert formats["link"].hyperlink.address == "https://example.org/"
    assert body.paragraphs[5].runs[0].font.name == "Courier New"


@pytest.mark.parametrize(("layout", "bullets"), [("Title and Content", 0), ("Section Header", 2), ("Blank", 2)])
def test_items_have_bullets_also_where_the_layout_gives_none(layout: str, bullets: int) -> None:
    deck = opened(powerpoint.plain())

    applied(deck, AddSlide(layout=layout, title="x", body="- one\n  - two"))

    assert parts(written(deck))["ppt/slides/slide4.xml"].count(b"<a:buChar") == bullets


def test_a_list_counts_on_after_what_stands_between_its_items() -> None:
    deck = opened(powerpoint.plain())

    content = "# t\n\n1. a\n2. b\n   - x\n3. c\n\n   ```\n   code\n   ```\n4. d\n5. e\n\ntext\n\n9. f"

    applied(deck, WritePage(content=content))

    slide = etree.fromstring(parts(written(deck))["ppt/slides/slide4.xml"])
    assert [each.get("startAt") for each in slide.iter(f"{A}buAutoNum")] == [None, None, None, "4", "4", "9"]


def test_a_page_goes_before_the_slide_at_its_position() -> None:
    deck = opened(powerpoint.plain())

    applied(deck, WritePage(content="# New", position=1))

    assert titles(deck) == ["Quarterly report", "New", "Revenue", "Costs"]


def test_the_placeholders_of_a_new_slide_are_those_of_its_layout() -> None:
    deck = opened(powerpoint.plain())

    applied(deck, AddSlide(layout="two content", title="Both", body="- left"))

    slide = reopened(written(deck)).slides[3]
    assert [(shape.placeholder_format.idx, shape.name) for shape in slide.placeholders] == [
        (0, "Title 1"),
        (1, "Content Placeholder 2"),
        (2, "Content Placeholder 3"),
    ]
    assert slide.placeholders[1].left == slide.slide_layout.placeholders[1].left


@pytest.mark.parametrize(
    ("make", "asked", "got"),
    [
        (powerpoint.plain, None, "Title and Content"),
        (powerpoint.plain, "  title ONLY ", "Title Only"),
        (powerpoint.localised, "Nur Titel", "Nur Titel"),
        (powerpoint.localised, "Section Header", "Abschnittsüberschrift"),
        (powerpoint.localised, None, "Titel und Inhalt"),
        (powerpoint.custom_layouts, None, "House Cover"),
        (powerpoint.custom_layouts, "house text", "House Text"),
        (powerpoint.custom_layouts, "Bare", "Bare"),
    ],
)
def test_layouts_go_by_name_or_by_what_they_are_for(make: powerpoint.Maker, asked: str | None, got: str) -> None:
    deck = opened(make())

    result = applied(deck, AddSlide(layout=asked, title="Title", body="Body"))

    slide = reopened(written(deck)).slides[-1]
    assert slide.slide_layout.name == got
    assert slide.shapes.title.text == "Title"
    (made,) = [each for each in slides_of(deck) if each.id == result["id"]]
    assert [child.text for child in made.children] == ["Body"]


def test_a_new_slide_has_the_design_of_the_one_before_it() -> None:
    deck = opened(powerpoint.two_masters())

    applied(deck, WritePage(content="# Second"), WritePage(content="# First", position=1))

    designs = [slide.slide_layout.slide_master.part.partname[-5] for slide in reopened(written(deck)).slides]
    assert designs == ["1", "1", "2", "2"]


def test_an_unknown_layout_is_an_error_that_names_the_known_ones() -> None:
    deck = opened(powerpoint.localised())

    with pytest.raises(InvalidEditError, match=r"no layout 'Fancy'; there are 'Titelfolie', 'Titel und Inhalt'"):
        applied(deck, AddSlide(layout="Fancy", title="x"))


def test_a_slide_has_the_notes_it_was_added_with_also_in_a_file_that_had_none() -> None:
    deck = opened(powerpoint.plain())

    applied(deck, AddSlide(title="x", notes="Smile.\nThen bow."))

    again = reopened(written(deck))
    assert again.slides[3].notes_slide.notes_text_frame.text == "Smile.\nThen bow."
    assert again.notes_master.part.partname == "/ppt/notesMasters/notesMaster1.xml"


def test_notes_take_the_place_of_those_there_were_in_their_formatting() -> None:
    original = powerpoint.with_notes()
    deck = opened(original)

    applied(deck, SetNotes(slide_id="slide-257", notes="Other"))

    data = written(deck)
    assert reopened(data).slides[1].notes_slide.notes_text_frame.text == "Other"
    assert differing(original, data) == {"ppt/notesSlides/notesSlide1.xml"}


def test_notes_of_a_second_slide_share_the_notes_master() -> None:
    original = powerpoint.with_notes()
    deck = opened(original)

    applied(deck, SetNotes(slide_id="slide-256", notes="First"))

    assert differing(original, written(deck)) == {
        "[Content_Types].xml",
        "ppt/notesSlides/_rels/notesSlide3.xml.rels",
        "ppt/notesSlides/notesSlide3.xml",
        "ppt/slides/_rels/slide1.xml.rels",
    }


def test_editing_a_title_leaves_the_rest_of_the_slide_as_it_is() -> None:
    original = powerpoint.split_runs()
    deck = opened(original)

    applied(deck, EditSlide(slide_id="slide-256", title="Other"))

    data = written(deck)
    title = reopened(data).slides[0].shapes.title.text_frame.paragraphs[0]
    assert (title.text, title.runs[0].font.bold, str(title.alignment)) == ("Other", True, "RIGHT (3)")
    assert differing(original, data) == {"ppt/slides/slide1.xml"}
    assert deck.text().startswith("Other\nDear {{name}}, {{name}}!\none\ntwo")


def test_editing_a_body_keeps_title_animation_transition_and_what_nobody_knows() -> None:
    deck = opened(powerpoint.animated())

    applied(deck, EditSlide(slide_id="slide-256", body="- Other"))

    slide = parts(written(deck))["ppt/slides/slide1.xml"]
    assert opened(written(deck)).text() == "Moving\nOther"
    for kept in (b'<p:transition spd="slow">', b'<p:bldP spid="3"', b"urn:other", b'id="3"'):
        assert kept in slide


def test_a_page_without_a_heading_keeps_the_title() -> None:
    deck = opened(powerpoint.plain())

    applied(deck, EditPage(page_id="slide-257", content="Only text"))

    assert "Revenue\nOnly text\nCosts" in deck.text()


def test_a_slide_without_placeholders_gets_a_title_and_one_text_box_for_its_body() -> None:
    deck = opened(powerpoint.without_placeholders())

    applied(
        deck,
        EditSlide(slide_id="slide-256", title="Now titled", body="First body"),
        EditSlide(slide_id="slide-256", body="Second body"),
    )

    slide = reopened(written(deck)).slides[0]
    assert slide.shapes.title.text == "Now titled"
    assert deck.text() == "Now titled\nBy hand\nSecond body"


def test_links_of_a_text_that_goes_leave_the_file() -> None:
    deck = opened(powerpoint.linked())

    applied(
        deck, EditSlide(slide_id="slide-256", body="[there](https://example.org/) and [here](https://example.com/)")
    )
    applied(deck, EditSlide(slide_id="slide-256", body="nowhere", discard=True))

    rels = parts(written(deck))["ppt/slides/_rels/slide1.xml.rels"]
    assert b"example" not in rels
    assert b"slide2.xml" in rels


def test_a_link_that_leads_into_somebodys_files_is_only_text() -> None:
    deck = opened(powerpoint.plain())

    applied(
        deck, EditSlide(slide_id="slide-257", body="[a](file:///etc/passwd) [b](https://host/%0Ax) [c](//host/share)")
    )

    assert b"External" not in parts(written(deck))["ppt/slides/_rels/slide2.xml.rels"]
    assert "a b c" in deck.text()


def test_a_moved_slide_changes_nothing_but_the_list() -> None:
    original = powerpoint.many(5)
    deck = opened(original)

    applied(deck, MoveSlide(slide_id="slide-256", position=3))

    assert titles(deck) == ["Slide 1", "Slide 2", "Slide 3", "Slide 0", "Slide 4"]
    assert differing(original, written(deck)) == {"ppt/presentation.xml"}


def test_a_deleted_slide_takes_its_notes_and_chart_along_but_not_the_picture_of_others() -> None:
    original = powerpoint.illustrated()
    deck = opened(original)
    applied(deck, SetNotes(slide_id="slide-256", notes="x"))
    noted = written(deck)

    applied(deck, DeleteSlide(slide_id="slide-256"))

    data = written(deck)
    gone = parts(noted).keys() - parts(data).keys()
    assert {"ppt/slides/slide1.xml", "ppt/notesSlides/notesSlide1.xml"} < gone
    assert any(name.startswith("ppt/charts/") for name in gone)
    assert any(name.startswith("ppt/embeddings/") for name in gone)
    assert [shape.shape_type for shape in reopened(data).slides[0].shapes if shape.name == "Logo"]


def test_a_deleted_slide_leaves_no_declaration_of_its_relationships() -> None:
    deck = opened(powerpoint.plain())
    rels = "/ppt/slides/_rels/slide2.xml.rels"
    kind = "application/vnd.openxmlformats-package.relationships+xml"
    # LibreOffice declares each of them.
    types = deck.package.tree("[Content_Types].xml")
    etree.SubElement(types, types[-1].tag, PartName=rels, ContentType=kind)

    applied(deck, DeleteSlide(slide_id="slide-257"))

    assert rels.encode() not in parts(written(deck))["[Content_Types].xml"]


def test_comments_go_with_their_slide_and_stay_with_others() -> None:
    first, second = (opened(powerpoint.commented()) for _ in range(2))

    applied(first, DeleteSlide(slide_id="slide-256"))
    applied(second, DeleteSlide(slide_id="slide-257"))

    assert "ppt/comments/comment1.xml" not in parts(written(first))
    assert "ppt/comments/comment1.xml" in parts(written(second))
    assert "ppt/commentAuthors.xml" in parts(written(first))


def test_links_and_custom_shows_forget_a_deleted_slide() -> None:
    deck = opened(powerpoint.linked())

    applied(deck, DeleteSlide(slide_id="slide-257"))

    held = parts(written(deck))
    assert b"hlinksldjump" not in held["ppt/slides/slide1.xml"]
    assert b"https://example.org/" in held["ppt/slides/_rels/slide1.xml.rels"]
    assert held["ppt/presentation.xml"].count(b"<p:sld ") == 1


def test_the_id_of_a_deleted_slide_is_not_given_again() -> None:
    deck = opened(powerpoint.plain())
    applied(deck, DeleteSlide(slide_id="slide-258"))
    later = opened(written(deck))

    result = applied(later, AddSlide(title="New"))

    assert result["id"] == "slide-259"
    applied(later, DeleteSlide(slide_id="slide-257"), DeleteSlide(slide_id="slide-259"))
    assert applied(later, AddSlide(title="Newer"))["id"] == "slide-260"


def test_a_hidden_slide_stays_hidden() -> None:
    deck = opened(powerpoint.hidden())

    applied(deck, EditSlide(slide_id="slide-257", title="Secret"))

    assert reopened(written(deck)).slides[1]._element.get("show") == "0"


def test_the_outline_tells_what_lies_on_a_slide() -> None:
    deck = opened(powerpoint.illustrated())

    kinds = [[(child.id, child.kind) for child in slide.children] for slide in slides_of(deck)]

    assert kinds == [[("slide-256.3", "chart"), ("slide-256.4", "picture")], [("slide-257.3", "picture")]]
    assert deck.fingerprint("slide-256.3") is not None
    assert deck.fingerprint("slide-256.99") is None
    assert deck.fingerprint("slide-999") is None


def test_the_fingerprint_of_a_slide_changes_with_its_text_and_its_notes() -> None:
    deck = opened(powerpoint.with_notes())
    prints = [deck.fingerprint("slide-257")]

    for edit in (EditSlide(slide_id="slide-257", title="x"), SetNotes(slide_id="slide-257", notes="y")):
        applied(deck, edit)
        prints.append(deck.fingerprint("slide-257"))

    assert len(set(prints)) == 3
    assert opened(written(deck)).fingerprint("slide-257") == prints[-1]


def test_a_file_that_is_no_presentation_is_refused_with_a_reason() -> None:
    package = Package.read(powerpoint.plain())
    package.put("ppt/presentation.xml", b"<presentation xmlns='http://purl.oclc.org/ooxml/presentationml/main'/>")

    with pytest.raises(UnsupportedDocumentError) as refused:
        Presentation(package)

    assert refused.value.reason == "not_a_presentation"


def test_a_file_that_lists_a_slide_it_does_not_hold_is_refused_with_a_reason() -> None:
    package = Package.read(powerpoint.plain())
    package.drop("ppt/slides/slide2.xml")

    with pytest.raises(UnsupportedDocumentError) as refused:
        Presentation(package).outline()

    assert refused.value.reason == "broken_package"


def test_a_text_too_long_for_its_slide_is_written_smaller_and_a_short_one_in_full_size_again() -> None:
    deck = opened(powerpoint.plain())
    long = "\n".join(f"- a point of some length that is number {number}" for number in range(30))

    applied(deck, EditSlide(slide_id="slide-257", body=long))

    body = reopened(written(deck)).slides[1].placeholders[1].text_frame._txBody.bodyPr
    assert 25_000 <= int(body.normAutofit.get("fontScale")) <= 62_500
    applied(deck, EditSlide(slide_id="slide-257", body="- short"))
    again = reopened(written(deck)).slides[1].placeholders[1].text_frame._txBody.bodyPr
    assert again.normAutofit.attrib == {}
