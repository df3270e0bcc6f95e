"""Reading: what a file says, through the libraries that others would read it with."""

import io
import warnings
from operator import attrgetter
from typing import Any

import docx
import openpyxl
import pptx

from tests.tokens.model import TOKEN, marked, slide_line, tokens_in


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
    document = docx.Document(io.BytesIO(data))
    tokens = [token for paragraph in document.paragraphs for token in _tokens_of(paragraph.runs, "underline")]
    return [*tokens, "remarks:", *sorted(token for one in document.comments for token in tokens_in(one.text))]


def _tokens_of(runs: Any, underline: str) -> list[str]:
    """Return the tokens in runs, marked if all of their letters are underlined."""
    letters = [(letter, bool(attrgetter(underline)(run))) for run in runs for letter in run.text]
    text = "".join(letter for letter, _ in letters)
    return [
        marked(match[0])
        if all(is_underlined for _, is_underlined in letters[match.start() : match.end()])
        else match[0]
        for match in TOKEN.finditer(text)
    ]


def _of_book(data: bytes) -> list[str]:
    with warnings.catch_warnings():
        # What it would lose when saving is nothing to us, who only read.
        warnings.simplefilter("ignore")
        book: Any = openpyxl.load_workbook(io.BytesIO(data))
    rows = [[cell for cell in row if cell is not None] for row in book["Log"].iter_rows(values_only=True)]
    lines = [f"{number}: {row}" for number, row in enumerate(rows, 1) if row]
    cells = {cell.coordinate: cell.value for row in book["Grid"].iter_rows() for cell in row if cell.value is not None}
    lines += [f"{cell} = {value}" for cell, value in sorted(cells.items())]
    log = [cell for row in book["Log"].iter_rows() for cell in row]
    remarks = sorted(token for cell in log if cell.comment for token in tokens_in(cell.comment.text))
    charts = sorted(
        token for chart in book["Log"]._charts for p in chart.title.tx.rich.p for r in p.r for token in tokens_in(r.t)
    )
    bold = sorted(cell.coordinate for cell in log if cell.font.bold)
    return [*lines, "remarks:", *remarks, "charts:", *charts, "bold:", *bold]


def _of_deck(data: bytes) -> list[str]:
    deck: Any = pptx.Presentation(io.BytesIO(data))
    return [_of_slide(slide) for slide in deck.slides]


def _of_slide(slide: Any) -> str:
    title = slide.shapes.title
    body = [
        token
        for shape in slide.shapes
        if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id)
        for paragraph in shape.text_frame.paragraphs
        for token in _tokens_of(paragraph.runs, "font.underline")
    ]
    notes = tokens_in(slide.notes_slide.notes_text_frame.text) if slide.has_notes_slide else []
    charts = [
        token
        for shape in slide.shapes
        if shape.has_chart
        for token in tokens_in(shape.chart.chart_title.text_frame.text)
    ]
    remarks = sorted(
        token
        for arrow in slide.part.rels.values()
        if arrow.reltype.endswith("/comments")
        for token in tokens_in(arrow.target_part.blob.decode())
    )
    return slide_line("" if title is None else title.text_frame.text, body, notes, charts, remarks)
