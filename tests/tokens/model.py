"""The pure model: what documents must say after edits, told without any file.

A document is a list of lines. Every token that an edit brings in stands in the
line of what it belongs to, so lines tell what is there, where, and how often.
"""

import re
from dataclasses import dataclass
from typing import Any, Final, Protocol

TOKEN: Final = re.compile(r"T\d{6}")


def tokens_in(text: object) -> list[str]:
    """Return the tokens in a text, in order, however they are emphasised."""
    return TOKEN.findall(text.replace("*", "")) if isinstance(text, str) else []


@dataclass(frozen=True, slots=True)
class Done:
    """An edit that was completed: what was asked for, references resolved, and what it told."""

    task_type: str
    payload: dict[str, Any]
    result: dict[str, Any]


def marked(token: str) -> str:
    """Return a token of which all letters are underlined."""
    return f"{token}_"


class Remarks:
    """What is said about a document, by the ids of what was said, and what that is about."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, list[str]]] = {}

    def apply(self, done: Done) -> None:
        """Do as documents do with remarks."""
        match done.payload:
            case {"add": {"nodeId": str(node), "text": str(text)}}:
                self._said[done.result["id"]] = node, tokens_in(text)
            case {"reply": {"commentId": str(to), "text": str(text)}}:
                self._said[done.result["id"]] = self._said[to][0], tokens_in(text)
            case {"delete": {"commentId": str(gone)}}:
                del self._said[gone]
            case other:
                raise AssertionError(other)

    def tokens(self, node: str | None = None) -> list[str]:
        """Return what is said of a node, or of all."""
        return sorted(token for about, said in self._said.values() if node in {None, about} for token in said)


class Model(Protocol):
    """What a document says."""

    def apply(self, done: Done) -> None: ...

    def lines(self) -> list[str]: ...


class TextModel:
    """A Word document of sections, in which pages come and go, and paragraphs in them."""

    def __init__(self, sections: list[str]) -> None:
        self._pages: dict[str, list[str]] = {section: [] for section in sections}
        self._last = sections[-1]
        self._said: dict[str, list[_Paragraph]] = {}
        self._remarks = Remarks()

    def apply(self, done: Done) -> None:
        """Do as a Word document does."""
        payload = done.payload
        match done.task_type:
            case "write_page":
                pages = self._pages[payload.get("sectionId", self._last)]
                pages.insert(payload.get("position", len(pages)), done.result["id"])
                self._said[done.result["id"]] = [_Paragraph("", tokens_in(payload["content"]))]
            case "edit_page":
                self._said[payload["pageId"]] = [_Paragraph("", tokens_in(payload["content"]))]
            case "insert_content":
                self._said[payload["into"]].append(_Paragraph(done.result["id"], tokens_in(payload["content"])))
            case "edit_node":
                paragraphs = (one for page in self._said.values() for one in page if one.id == payload["nodeId"])
                next(paragraphs).tokens = tokens_in(payload["text"])
            case "comment":
                self._remarks.apply(done)
            case "format":
                for paragraph in (one for page in self._said.values() for one in page):
                    paragraph.tokens = [marked(t) if t == payload["find"] else t for t in paragraph.tokens]
            case "replace_text":
                for paragraph in self._said[payload["under"]]:
                    paragraph.tokens = [payload["replace"] if t == payload["find"] else t for t in paragraph.tokens]
            case "duplicate_node":
                pages = self._around(payload["nodeId"])
                pages.insert(pages.index(payload["nodeId"]) + 1, done.result["id"])
                # A copy of a paragraph has an id of its own, which nobody has asked for.
                copied = [_Paragraph("", [*one.tokens]) for one in self._said[payload["nodeId"]]]
                self._said[done.result["id"]] = copied
            case "move_node":
                self._around(payload["nodeId"]).remove(payload["nodeId"])
                self._pages[payload["into"]].append(payload["nodeId"])
            case "delete_page":
                del self._said[payload["pageId"]]
            case "delete_node":
                del self._said[payload["nodeId"]]
            case other:
                raise AssertionError(other)

    def lines(self) -> list[str]:
        """Return the tokens from top to bottom."""
        pages = (page for pages in self._pages.values() for page in pages)
        tokens = [token for page in pages for one in self._said.get(page, []) for token in one.tokens]
        return [*tokens, "remarks:", *self._remarks.tokens()]

    def _around(self, page: str) -> list[str]:
        return next(pages for pages in self._pages.values() if page in pages)


@dataclass(slots=True)
class _Paragraph:
    id: str
    tokens: list[str]


_CELL: Final = re.compile(r"([A-Z]+)([0-9]+)")


class BookModel:
    """A workbook with a log that grows and a grid in which the last writer wins."""

    def __init__(self) -> None:
        self._rows: list[list[Any]] = []
        self._cells: dict[str, Any] = {}
        self._remarks = Remarks()
        self._bold: list[str] = []
        self._charts: dict[str, list[str]] = {}

    def apply(self, done: Done) -> None:
        """Do as a workbook does."""
        payload = done.payload
        match done.task_type:
            case "add_sheet":
                pass
            case "append_rows":
                # What it told its caller is a part of what it promised.
                assert done.result["firstRow"] == len(self._rows) + 1, (done, len(self._rows))
                self._rows += payload["rows"]
                assert done.result["lastRow"] == len(self._rows), (done, len(self._rows))
            case "set_cells":
                self._cells |= payload["cells"]
            case "edit_grid":
                self._shift(payload)
            case "comment":
                self._remarks.apply(done)
            case "format":
                self._bold.append(payload["range"].removeprefix("Log!"))
            case "chart":
                self._charts[done.result["id"]] = tokens_in((payload.get("create") or payload["update"])["title"])
            case other:
                raise AssertionError(other)

    def lines(self) -> list[str]:
        """Return the rows of the log, then the cells of the grid, then what is said, shown and bold."""
        rows = [f"{number}: {row}" for number, row in enumerate(self._rows, 1)]
        cells = [f"{cell} = {value}" for cell, value in sorted(self._cells.items())]
        charts = sorted(token for tokens in self._charts.values() for token in tokens)
        return rows + cells + ["remarks:", *self._remarks.tokens(), "charts:", *charts, "bold:", *sorted(self._bold)]

    def _shift(self, payload: dict[str, Any]) -> None:
        """Move what stands below rows that come or go."""
        come = "insertRows" in payload
        change: dict[str, int] = payload["insertRows" if come else "deleteRows"]
        first, count = change["at"], change.get("count", 1)
        moved: dict[str, Any] = {}
        for cell, value in self._cells.items():
            column, row = _CELL.fullmatch(cell).groups()  # type: ignore[union-attr]  # so are cells named
            if int(row) < first:
                moved[cell] = value
            elif come:
                moved[f"{column}{int(row) + count}"] = value
            elif int(row) >= first + count:
                moved[f"{column}{int(row) - count}"] = value
        self._cells = moved


@dataclass(slots=True)
class _Slide:
    title: str
    body: list[str]
    notes: list[str]
    charts: list[str]


class DeckModel:
    """A presentation whose slides come, move, change and go."""

    def __init__(self, slides: dict[str, str]) -> None:
        self._order = list(slides)
        self._remarks = Remarks()
        self._slides = {slide: _Slide(title, [], [], []) for slide, title in slides.items()}

    def apply(self, done: Done) -> None:
        """Do as a presentation does."""
        payload = done.payload
        match done.task_type:
            case "add_slide":
                slide = done.result["id"]
                assert slide not in self._slides, f"the id of {done} is taken"
                self._order.append(slide)
                notes = tokens_in(payload.get("notes"))
                self._slides[slide] = _Slide(payload["title"], tokens_in(payload.get("body")), notes, [])
            case "comment":
                self._remarks.apply(done)
            case "format":
                for told in self._slides.values():
                    told.body = [marked(token) if token == payload["find"] else token for token in told.body]
            case "chart":
                self._slides[payload["create"]["into"]].charts += tokens_in(payload["create"]["title"])
            case "edit_slide":
                self._slides[payload["slideId"]].body = tokens_in(payload["body"])
            case "set_notes":
                self._slides[payload["slideId"]].notes = tokens_in(payload["notes"])
            case "move_slide":
                self._order.remove(payload["slideId"])
                self._order.insert(payload["position"], payload["slideId"])
            case "delete_slide":
                self._order.remove(payload["slideId"])
            case "delete_node":
                self._order.remove(payload["nodeId"])
            case "duplicate_node":
                slide = done.result["id"]
                assert slide not in self._slides, f"the id of {done} is taken"
                self._order.insert(self._order.index(payload["nodeId"]) + 1, slide)
                told = self._slides[payload["nodeId"]]
                self._slides[slide] = _Slide(told.title, [*told.body], [*told.notes], [*told.charts])
            case "move_node":
                self._order.remove(payload["nodeId"])
                self._order.insert(self._order.index(payload["after"]) + 1, payload["nodeId"])
            case other:
                raise AssertionError(other)

    def lines(self) -> list[str]:
        """Return the slides in order."""
        slides = ((slide, self._slides[slide]) for slide in self._order)
        return [
            slide_line(told.title, told.body, told.notes, told.charts, self._remarks.tokens(slide))
            for slide, told in slides
        ]


def slide_line(title: str, *parts: list[str]) -> str:
    """Return the line of a slide: its title, and the tokens of its text, notes, charts and remarks."""
    return " | ".join([title, *(" ".join(part) for part in parts)])
