"""Office files to be edited, made by the libraries that people use, with the same content in every run.

Every paragraph begins with a mark of its own, such as `[3.2]`, and every edit
leaves a token of its own, such as `e17`, so that none can be lost unseen.
"""

import io
import random
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import docx
import openpyxl
from docx.shared import Inches

PARAGRAPHS: Final = 8
"""On a page, after its heading."""

_SYLLABLES: Final = ("ba", "con", "de", "fer", "ing", "lor", "men", "par", "quo", "res", "sim", "tion", "ul", "ver")
_WORDS: Final = tuple(first + second for first in _SYLLABLES for second in _SYLLABLES if first != second)
_SENTENCE: Final = 55
_SIDE: Final = 590
_TOKEN: Final = re.compile(r"\be\d+\b")


@dataclass(frozen=True, slots=True)
class SmallEdit:
    """One edit: a paragraph at the end, or a few letters more in one that is there."""

    document: int
    number: int
    pages: int

    @property
    def token(self) -> str:
        """What it leaves in the text."""
        return f"e{self.number}"

    @property
    def place(self) -> tuple[int, int] | None:
        """The page and the paragraph on it that are changed; None for a new paragraph."""
        return None if self.number % 2 else (self.number * 7 % self.pages, self.number % PARAGRAPHS)

    def task(self) -> dict[str, object]:
        """Return what the API is told."""
        document_id = name(self.document)
        if self.place is None:
            return {"taskType": "write_page", "documentId": document_id, "payload": {"content": f"Added {self.token}."}}
        mark = mark_of(*self.place)
        payload = {"find": mark, "replace": f"{mark} {self.token}"}
        return {"taskType": "replace_text", "documentId": document_id, "payload": payload}

    def by_hand(self) -> list[object]:
        """Return what somebody is told who does it with the library."""
        if self.place is None:
            return [name(self.document), "add", f"Added {self.token}."]
        page, paragraph = self.place
        mark = mark_of(page, paragraph)
        return [name(self.document), "change", page * (PARAGRAPHS + 1) + 1 + paragraph, mark, f"{mark} {self.token}"]


def name(document: int) -> str:
    """Return the id of a document, and the name of its file."""
    return f"d{document}"


def mark_of(page: int, paragraph: int) -> str:
    """Return what a paragraph begins with."""
    return f"[{page}.{paragraph}]"


def small_edits(count: int, documents: int, pages: int, exponent: float = 1.1) -> list[SmallEdit]:
    """Return edits of documents, some of which are much more popular than others."""
    chance = random.Random(1)
    weights = [1 / (rank + 1) ** exponent for rank in range(documents)]
    chosen = chance.choices(range(documents), weights, k=count)
    return [SmallEdit(document, number, pages) for number, document in enumerate(chosen)]


def text_document(number: int, pages: int, images: int = 0) -> bytes:
    """Return a Word document; an image has a megabyte that nothing makes smaller."""
    chance = random.Random(number)
    document = docx.Document()
    for page in range(pages):
        document.add_heading(f"Page {page}", 1).paragraph_format.page_break_before = page > 0
        for paragraph in range(PARAGRAPHS):
            document.add_paragraph(f"{mark_of(page, paragraph)} {' '.join(chance.choices(_WORDS, k=_SENTENCE))}.")
    for _ in range(images):
        document.add_picture(io.BytesIO(_image(chance)), width=Inches(5))
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def sheet(rows: int, columns: int, *, with_formulas: bool = False) -> bytes:
    """Return a workbook with numbers and texts, perhaps with a formula at the end of each row."""
    chance = random.Random(rows)
    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet("Data")
    for row in range(rows):
        cells: list[int | str] = [
            chance.randrange(1_000_000) if column % 3 else chance.choice(_WORDS) for column in range(columns - 1)
        ]
        if with_formulas:
            cells[-1] = f"=A{row + 1}*2"
        page.append([row, *cells])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def cells(edit: int, count: int, rows: int) -> dict[str, int]:
    """Return the values that an edit gives to cells all over a sheet; no two edits have a cell in common."""
    step = rows // count
    return {f"B{index * step + edit % step + 1}": edit * 1_000 + index for index in range(count)}


def lost_or_doubled(file: bytes, edits: Iterable[SmallEdit]) -> int:
    """Return how many edits a Word document does not show exactly once."""
    document = docx.Document(io.BytesIO(file))
    shown: Counter[str] = Counter(
        token for paragraph in document.paragraphs for token in _TOKEN.findall(paragraph.text)
    )
    shown.subtract(edit.token for edit in edits)
    return sum(map(abs, shown.values()))


def _image(chance: random.Random) -> bytes:
    rows = b"".join(b"\0" + chance.randbytes(3 * _SIDE) for _ in range(_SIDE))
    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunks(chunks))


def _chunks(chunks: tuple[tuple[bytes, bytes], ...]) -> Iterator[bytes]:
    for kind, data in chunks:
        yield struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
