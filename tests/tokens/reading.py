"""Reading: what a file says, through the libraries that others would read it with."""

import io
import warnings
from typing import Any

import docx
import openpyxl
import pptx

from tests.tokens.model import slide_line, tokens_in


def lines_of(format: str, data: bytes) -> list[str]:
    """Return what a model would say of a file of this format."""
    match format:
        case "docx":
            return _of_text(data)
        case "xlsx":
            return _of_book(data)
        case _:
            return _of_deck(data)


def _of_text(data: bytes) -> list[str]:
    return [token for paragraph in docx.Document(io.BytesIO(data)).paragraphs for token in tokens_in(paragraph.text)]


def _of_book(data: bytes) -> list[str]:
    with warnings.catch_warnings():
        # What it would lose when saving is nothing to us, who only read.
        warnings.simplefilter("ignore")
        book: Any = openpyxl.load_workbook(io.BytesIO(data))
    rows = [[cell for cell in row if cell is not None] for row in book["Log"].iter_rows(values_only=True)]
    lines = [f"{number}: {row}" for number, row in enumerate(rows, 1) if row]
    cells = {cell.coordinate: cell.value for row in book["Grid"].iter_rows() for cell in row if cell.value is not None}
    return lines + [f"{cell} = {value}" for cell, value in sorted(cells.items())]


def _of_deck(data: bytes) -> list[str]:
    deck: Any = pptx.Presentation(io.BytesIO(data))
    return [_of_slide(slide) for slide in deck.slides]


def _of_slide(slide: Any) -> str:
    title = slide.shapes.title
    body = [
        token
        for shape in slide.shapes
        if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id)
        for token in tokens_in(shape.text_frame.text)
    ]
    notes = tokens_in(slide.notes_slide.notes_text_frame.text) if slide.has_notes_slide else []
    return slide_line("" if title is None else title.text_frame.text, body, notes)
