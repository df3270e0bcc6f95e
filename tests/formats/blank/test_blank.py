import io

import docx
import openpyxl
import pptx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import Format, InvalidEditError
from officeplane.formats.blank import blank
from officeplane.formats.gate import admit
from officeplane.formats.package import Package
from officeplane.formats.xml import is_storable

FORMATS = list(Format)


def title_of(format: Format, data: bytes) -> str | None:
    title: str | None
    match format:
        case Format.DOCX:
            title = docx.Document(io.BytesIO(data)).core_properties.title
        case Format.XLSX:
            title = openpyxl.load_workbook(io.BytesIO(data)).properties.title
        case Format.PPTX:
            title = pptx.Presentation(io.BytesIO(data)).core_properties.title
    return title


@pytest.mark.parametrize("format", FORMATS)
def test_a_blank_document_is_admitted_and_opens(format: Format) -> None:
    data = blank(format, "A & <B>")

    assert admit(data) == format
    assert title_of(format, data) == "A & <B>"


@pytest.mark.parametrize("format", FORMATS)
def test_without_a_title_there_is_none(format: Format) -> None:
    assert not title_of(format, blank(format, None))


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_request_gives_the_same_bytes(format: Format) -> None:
    assert blank(format, "x") == blank(format, "x")
    assert blank(format, "x") != blank(format, "y")


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_tells_of_the_makers_of_the_templates(format: Format) -> None:
    package = Package.read(blank(format, None))

    whole = b"".join(package.content(name) for name in package.names).lower()
    assert not any(word in whole for word in (b"python", b"openpyxl", b"canny", b"macintosh", b"normal.dotm"))
    assert not any("thumbnail" in name or "printer" in name for name in package.names)


def test_a_document_says_nothing_yet() -> None:
    document = docx.Document(io.BytesIO(blank(Format.DOCX, "x")))

    assert document.paragraphs == []
    assert document.core_properties.author == ""


def test_a_workbook_has_one_empty_sheet() -> None:
    workbook = openpyxl.load_workbook(io.BytesIO(blank(Format.XLSX, None)))

    assert workbook.sheetnames == ["Sheet1"]
    assert workbook.worksheets[0]["A1"].value is None


def test_a_presentation_is_wide_and_its_layouts_fill_it() -> None:
    presentation = pptx.Presentation(io.BytesIO(blank(Format.PPTX, None)))

    width, height = presentation.slide_width, presentation.slide_height
    assert width is not None
    assert height is not None
    assert width * 9 == height * 16
    assert list(presentation.slides) == []
    title = presentation.slide_layouts[1].placeholders[0]
    assert abs(title.left * 2 + title.width - width) < 10


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(FORMATS), st.text(max_size=50))
def test_any_title_is_kept_or_refused(format: Format, title: str) -> None:
    if not is_storable(title):
        with pytest.raises(InvalidEditError):
            blank(format, title)
        return

    core = Package.read(blank(format, title)).tree("docProps/core.xml")
    assert (core.findtext("{http://purl.org/dc/elements/1.1/}title") or "") == title
