"""Names: a file that calls its nodes otherwise is read and edited by the ids that they had before."""

import io
import re
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Pt

from officeplane.domain.document import Format
from officeplane.formats.document_names import named, named_nodes, names_of_upload
from officeplane.formats.gate import admit
from officeplane.formats.naming.names import Names, scoped
from officeplane.formats.opening import Document, read_document
from tests.fixtures.documents import excel, powerpoint, word

_HARD: Final = [
    pytest.param(kind, make, id=f"{kind}-{name}")
    for kind, makers in ((Format.DOCX, word.HARD), (Format.XLSX, excel.HARD), (Format.PPTX, powerpoint.HARD))
    for name, make in makers.items()
    # It has a hundred thousand cells, and one sheet.
    if (kind, name) != (Format.XLSX, "big")
]
_OPENED: Final[Mapping[Format, Callable[[io.BytesIO], object]]] = {
    Format.DOCX: docx.Document,
    Format.XLSX: openpyxl.load_workbook,
    Format.PPTX: pptx.Presentation,
}


def opened(kind: Format, data: bytes) -> Document:
    admit(data)
    return read_document(kind, data)


def nodes_of(document: Document) -> dict[str, tuple[str, str]]:
    """Return what each node of a document is and says, by its id."""
    return {node.id: (node.family, node.said) for _, node in scoped(named_nodes(document).top)}


def renumbered(kind: Format, data: bytes) -> bytes:
    """Return a file as another program writes it that calls every node otherwise."""
    other = named(opened(kind, data), Names(seed="another program"))
    return other.package.write().content()


def as_uploaded(kind: Format, head: Document, data: bytes, *, seed: str = "task") -> Document:
    """Return a file as it is read that follows a document."""
    names = names_of_upload(head, opened(kind, data), seed, head_is_named=False)
    return named(opened(kind, data), Names.decode(names.encode()))


@pytest.mark.parametrize(("kind", "make"), _HARD)
def test_a_file_that_nobody_has_changed_needs_no_names(kind: Format, make: Callable[[], bytes]) -> None:
    data = make()

    assert names_of_upload(opened(kind, data), opened(kind, data), "task", head_is_named=False).encode() == b""


@pytest.mark.parametrize(("kind", "make"), _HARD)
def test_nodes_that_another_program_has_numbered_anew_are_what_they_were(
    kind: Format, make: Callable[[], bytes]
) -> None:
    head = opened(kind, make())
    data = renumbered(kind, make())

    now = as_uploaded(kind, head, data)

    assert nodes_of(now) == nodes_of(head)
    assert now.text() == head.text()


@pytest.mark.parametrize(("kind", "make"), _HARD)
def test_what_is_called_otherwise_opens_elsewhere_and_calls_no_two_things_alike(
    kind: Format, make: Callable[[], bytes]
) -> None:
    before = nodes_of(opened(kind, make()))
    data = renumbered(kind, make())

    after = nodes_of(opened(kind, data))

    assert not before.keys() & after.keys() - {one for one in before if "." in one}
    assert not any("+" in one for one in after)
    assert sorted(after.values()) == sorted(before.values())
    with warnings.catch_warnings():
        # Of what they do not keep themselves.
        warnings.simplefilter("ignore")
        _OPENED[kind](io.BytesIO(data))


@pytest.mark.parametrize(("kind", "make"), _HARD)
def test_names_are_those_of_the_file_from_the_first_write_on(kind: Format, make: Callable[[], bytes]) -> None:
    head = opened(kind, make())
    now = as_uploaded(kind, head, renumbered(kind, make()))

    written = opened(kind, now.package.write().content())

    assert nodes_of(written) == nodes_of(head)


def test_a_file_that_cannot_be_matched_gets_new_ids_for_everything() -> None:
    data = powerpoint.HARD["plain"]()
    head = nodes_of(opened(Format.PPTX, data))

    now = nodes_of(named(opened(Format.PPTX, data), Names(seed="task")))

    assert len(now) == len(head)
    assert not now.keys() & head.keys()


def test_notes_get_no_numbers_that_word_does_not_take() -> None:
    now = named(opened(Format.DOCX, word.HARD["footnotes"]()), Names(seed="task"))

    notes = [node.number for _, node in scoped(named_nodes(now).top) if node.family in {"footnote", "endnote"}]
    assert notes
    assert all(0 < int(number) < 2**15 for number in notes)


def test_a_new_slide_is_not_called_what_a_deleted_one_was() -> None:
    head = opened(Format.PPTX, _deck("one", "two", "three"))
    # The program at the other end gives the number of the last slide to a new one.
    now = nodes_of(as_uploaded(Format.PPTX, head, _deck("one", "two", "something else")))

    slides = [one for one, (family, _) in now.items() if family == "slide"]
    assert slides[:2] == ["slide-256", "slide-257"]
    assert slides[2] not in nodes_of(head)


def test_a_slide_that_is_added_later_is_not_called_what_one_was_that_an_upload_has_left_out() -> None:
    head = opened(Format.PPTX, _deck("one", "two", "three"))
    now = as_uploaded(Format.PPTX, head, _deck("one", "two"))
    assert now is not None

    again = as_uploaded(Format.PPTX, now, _deck("one", "two", "a fourth"))

    assert [one for one in nodes_of(again) if one.startswith("slide-") and "." not in one][2] == "slide-259"


def test_sheets_keep_their_ids_by_their_names_and_new_ones_get_new_ids() -> None:
    head = opened(Format.XLSX, _workbook("Costs", "Sales", "Plan"))

    now = as_uploaded(Format.XLSX, head, _workbook("Sales", "New", "Plan"))

    ids = {said: one for one, (family, said) in nodes_of(now).items() if family == "sheet"}
    assert ids == {"Sales": "sheet-2", "New": "sheet-4", "Plan": "sheet-3"}


def test_a_sheet_that_was_renamed_is_known_by_what_is_in_it() -> None:
    head = opened(Format.XLSX, _workbook("Costs", "Sales"))

    now = as_uploaded(Format.XLSX, head, _workbook("Expenses", "Sales", holding=["Costs", "Sales"]))

    ids = {said: one for one, (family, said) in nodes_of(now).items() if family == "sheet"}
    assert ids == {"Expenses": "sheet-1", "Sales": "sheet-2"}


def test_paragraphs_that_lost_their_ids_keep_them_and_a_moved_one_takes_its_own_along() -> None:
    head = named(opened(Format.DOCX, _text("Rent", "Term of the lease", "Notice")), Names(seed="Word"))

    now = as_uploaded(Format.DOCX, head, _text("Notice", "Rent", "A new clause", "Term of the long lease"))

    before = {said: one for one, (_, said) in nodes_of(head).items()}
    after = {said: one for one, (_, said) in nodes_of(now).items()}
    assert after["Rent"] == before["Rent"]
    assert after["Notice"] == before["Notice"]
    assert after["A new clause"] not in before.values()


def test_twins_among_headings_are_told_apart_by_where_they_stand() -> None:
    head = opened(Format.DOCX, _text("Scope", "first words", "Scope", "second words", headings=("Scope",)))
    data = _text("Scope", "second words", headings=("Scope",))

    now = as_uploaded(Format.DOCX, head, data)

    second = [one for one, (family, _) in nodes_of(head).items() if family == "heading"][1]
    assert [one for one, (family, _) in nodes_of(now).items() if family == "heading"] == [second]


def test_a_header_that_changed_places_with_another_keeps_its_id() -> None:
    data = word.HARD["headers_and_footers"]()
    head = opened(Format.DOCX, data)

    now = as_uploaded(Format.DOCX, head, _with_headers_swapped(data))

    assert nodes_of(now) == nodes_of(head)


def _deck(*titles: str) -> bytes:
    made = pptx.Presentation()
    for title in titles:
        slide = made.slides.add_slide(made.slide_layouts[1])
        assert slide.shapes.title is not None
        slide.shapes.title.text = title
        slide.shapes.add_textbox(Pt(9), Pt(9), Pt(99), Pt(9)).text_frame.text = f"{title}, {title} and {title}"
    return _saved(made.save)


def _workbook(*names: str, holding: Sequence[str] = ()) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.worksheets[0])
    for name, held in zip(names, holding or names, strict=True):
        sheet = made.create_sheet(name)
        for row in range(1, 9):
            sheet.append([f"{held} {row}", row, len(held) * row])
    return _saved(made.save)


def _text(*paragraphs: str, headings: Sequence[str] = ()) -> bytes:
    made = docx.Document()
    for text in paragraphs:
        made.add_paragraph(text, style="Heading 1" if text in headings else None)
    return _saved(made.save)


def _saved(save: Callable[[io.BytesIO], None]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def _with_headers_swapped(data: bytes) -> bytes:
    """Return a text whose first two headers are in each other's parts."""
    swap = {b"header1.xml": b"header2.xml", b"header2.xml": b"header1.xml"}
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(file, "w") as after:
        for name in before.namelist():
            content = re.sub(rb"header[12]\.xml", lambda found: swap[found[0]], before.read(name))
            other = re.sub(rb"header[12]\.xml", lambda found: swap[found[0]], name.encode()).decode()
            after.writestr(other, content)
    return file.getvalue()
