import contextlib
import io
import random
import zipfile
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError, UnsupportedDocumentError
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.write_page import WritePage
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import applied, assert_consistent, opened, parts, reopened, slides_of, written
from tests.formats.powerpoint.test_every_edit import edits_for

_MAKERS = [make for name, make in powerpoint.HARD.items() if name != "many"]
_VALUES = ("", "x", "-1", "99999999999999999999", "rId1")


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(_MAKERS), st.randoms(use_true_random=False))
def test_a_file_with_pieces_missing_is_edited_or_refused_in_words(
    make: powerpoint.Maker, chance: random.Random
) -> None:
    data = damaged(make(), chance)

    with contextlib.suppress(UnsupportedDocumentError):
        edits = edits_for(opened(data))
        for edit in chance.sample(edits, min(3, len(edits))):
            deck = opened(data)
            with contextlib.suppress(UnsupportedDocumentError, InvalidEditError):
                applied(deck, edit)
                deck.package.write()
                assert isinstance(deck.text(), str)
                assert isinstance(deck.outline(), list)


@pytest.mark.parametrize("make", [powerpoint.sectioned, powerpoint.with_notes, powerpoint.illustrated])
def test_a_presentation_may_lie_in_any_folder_and_name_its_parts_from_the_root(make: powerpoint.Maker) -> None:
    data = moved(make())

    for edit in edits_for(opened(data)):
        deck = opened(data)
        applied(deck, edit)

        after = deck.package.write().content()

        assert {name.partition("/")[0] for name in parts(after)} == {"deck", "docProps", "_rels", "[Content_Types].xml"}
        assert [slide.slide_layout.name for slide in reopened(after).slides]


def test_a_slide_without_a_layout_or_a_size_can_be_edited() -> None:
    package = Package.read(powerpoint.plain())
    package.drop("ppt/slides/_rels/slide2.xml.rels")
    root = package.tree("ppt/presentation.xml")
    root.remove(root.findall("{*}sldSz")[0])
    deck = Presentation(package)

    deck.edit_slide("slide-257", "Alone", [])
    deck.set_notes("slide-257", "noted")

    assert "Alone\nnoted" in deck.text()


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return a file in which elements or attributes are gone or say something else."""
    package = Package.read(data)
    names = [name for name in package.names if name.startswith("ppt/") and "theme" not in name and "Layout" not in name]
    for name in chance.sample([name for name in names if name.endswith((".xml", ".rels"))], 2):
        element = chance.choice(list(package.tree(name).iter()))
        above = element.getparent()
        if above is not None and (chance.random() < 0.6 or not element.attrib):
            above.remove(element)
        elif element.attrib:
            element.set(chance.choice(list(element.attrib)), chance.choice(_VALUES))
        package.changed(name)
    return package.write().content()


def moved(data: bytes) -> bytes:
    """Return a file whose folder has another name, with links to slides that begin at the root."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in parts(data).items():
            names_others = name.endswith(".rels") or name.startswith("[")
            archive.writestr(_moved(name), _moved(body.decode()) if names_others else body)
    return out.getvalue()


def test_thousands_of_links_are_read_written_and_replaced_soon() -> None:
    before, after = ("\n\n".join(f"[x](https://{host}.example/{n})" for n in range(3_000)) for host in ("one", "two"))
    deck = opened(powerpoint.plain())
    begun = process_time()

    page = applied(deck, WritePage(content=before))["id"]
    (marks,) = [child.marks for slide in slides_of(deck) if slide.id == page for child in slide.children]
    applied(deck, EditSlide(slide_id=page, body=after, discard=True))

    # It takes a second or two; where each link was looked for among all, a minute.
    assert process_time() - begun < 15
    assert marks == {"link": 3_000}
    (rels,) = [
        content for content in parts(written(deck)).values() if b"two.example" in content and b"Target" in content
    ]
    assert (rels.count(b"one.example"), rels.count(b"two.example")) == (0, 3_000)


def test_a_link_that_went_with_a_text_is_there_for_the_next_that_leads_there() -> None:
    deck = opened(powerpoint.plain())
    page = applied(deck, WritePage(content="# [Title](https://example.org/)\n\nBody"))["id"]

    applied(deck, EditSlide(slide_id=page, title="Title", body="[Body](https://example.org/)", discard=True))

    assert reopened(written(deck)).slides[3].placeholders[1].text_frame.paragraphs[0].runs[0].hyperlink.address
    assert_consistent(written(deck))


def test_shapes_that_are_numbered_alike_are_nodes_of_their_own() -> None:
    deck = opened(powerpoint.grouped())
    (slide,) = slides_of(deck)
    for about in deck.package.tree("ppt/slides/slide1.xml").iter("{*}cNvPr"):
        about.set("id", "7")

    alike = [child.id for child in slides_of(deck)[0].children]

    assert alike == [f"{slide.id}.7{suffix}" for suffix in ("", "+", "+2", "+3", "+4", "+5")[: len(slide.children)]]


def _moved(text: str) -> str:
    for old, new in (("ppt/", "deck/"), ("presentation.xml", "main.xml"), ('"slides/', '"/deck/slides/')):
        text = text.replace(old, new)
    return text
