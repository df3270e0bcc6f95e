"""A contract of twelve pages, as lawyers write them: numbered clauses, two tables, a picture's worth of fine print."""

import io

import docx
from docx.document import Document

from tests.formats.reading.numbered import number_headings

CLAUSES = (
    ("Definitions", ("Interpretation",)),
    ("Term and Renewal", ()),
    ("Fees and Payment", ("Invoices", "Late Payment")),
    ("Confidentiality", ()),
    ("Liability", ("Cap",)),
    ("Termination", ()),
    ("General", ()),
)
SENTENCE = (
    "The Supplier shall deliver the Services described in the Schedule within thirty days of each written request, "
    "and the Customer shall pay all undisputed amounts when they fall due under this Agreement. "
)


def contract() -> bytes:
    """Return a contract of some 5,000 words, which is twelve pages."""
    document = docx.Document()
    for title, sections in CLAUSES:
        document.add_heading(title, 1)
        _fill(document, 5)
        for section in sections:
            document.add_heading(section, 2)
            _fill(document, 5)
    table = document.add_table(rows=5, cols=3)
    for row in table.rows:
        for cell in row.cells:
            cell.text = "Rate"
    number_headings(document)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _fill(document: Document, paragraphs: int) -> None:
    for _ in range(paragraphs):
        document.add_paragraph(SENTENCE * 3)
