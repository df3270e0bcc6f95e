"""Representations: what else a document can be shown as than the file that it is."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from officeplane.domain.document import Format
from officeplane.domain.errors import FieldError, InvalidRequestError, OfficePlaneError


class Representation(StrEnum):
    """What a document can be shown as."""

    PDF = "pdf"
    MARKDOWN = "md"
    HTML = "html"
    CSV = "csv"
    JSON = "json"


OF_FORMAT: Final[Mapping[Format, tuple[Representation, ...]]] = {
    Format.DOCX: (Representation.PDF, Representation.MARKDOWN, Representation.HTML, Representation.JSON),
    Format.XLSX: tuple(Representation),
    Format.PPTX: (Representation.PDF, Representation.MARKDOWN, Representation.HTML, Representation.JSON),
}
OF_SHEETS: Final = frozenset((Representation.CSV, Representation.JSON))
"""Those that may be of one sheet."""

MEDIA_TYPES: Final[Mapping[Representation, str]] = {
    Representation.PDF: "application/pdf",
    Representation.MARKDOWN: "text/markdown; charset=utf-8",
    Representation.HTML: "text/html; charset=utf-8",
    Representation.CSV: "text/csv; charset=utf-8; header=absent",
    Representation.JSON: "application/json",
}


PAGE_POLICY: Final = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""What a browser may load for a page: nothing but what is in it."""


class RepresentationWanted(NamedTuple):
    """What to show a document as, and which sheet of it; None is the first one for CSV, and all of them for JSON."""

    kind: Representation
    sheet: str | None = None


class InvalidParameterError(InvalidRequestError):
    """A parameter does not fit the document that it is about."""

    code = "invalid_parameter"


class ConverterMissingError(OfficePlaneError):
    """What would make it is not installed here."""

    code = "converter_missing"

    def __init__(self) -> None:
        super().__init__(
            "LibreOffice, which makes PDF of documents, is not installed where this API runs: install it there (Debian "
            "and Ubuntu: apt-get install libreoffice-nogui), and see that `soffice` is found in PATH. Everything else "
            "that a document can be shown as needs nothing."
        )


def representation_of(format: Format, asked: str, sheet: str | None) -> Representation:
    """Return what a document of this format is asked to be shown as; `InvalidParameterError` if it cannot be."""
    found = next((one for one in OF_FORMAT[format] if one == asked), None)
    if found is None:
        raise _wrong("as", f"A {format} can be shown as {', '.join(OF_FORMAT[format])}, not as {asked!r}.")
    if sheet is not None and (format is not Format.XLSX or found not in OF_SHEETS):
        raise _wrong("sheet", f"Only csv and json of an xlsx are of one sheet; this is {found} of a {format}.")
    return found


def _wrong(name: str, message: str) -> InvalidParameterError:
    return InvalidParameterError(message, [FieldError(name, message)])
