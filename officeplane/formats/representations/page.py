"""Pages: a document as HTML that runs nothing and asks nobody for anything.

All text is escaped, links lead to the web or to people, pictures are those of the
file and lie in the page itself. The page says so to browsers, too, wherever it is kept.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final
from urllib.parse import urlsplit

from officeplane.domain.representation import PAGE_POLICY
from officeplane.formats.blocks import (
    Block,
    Code,
    Heading,
    Item,
    Line,
    Note,
    Paragraph,
    Picture,
    Quote,
    Rule,
    Span,
    Table,
)
from officeplane.formats.pictures.media_types import SHOWN, media_type
from officeplane.formats.reading.reader import Reader
from officeplane.formats.shown import SHOWN_BYTES_MAX, Measure

_NODE: Final = "node:"
_SCHEMES: Final = frozenset(("http", "https", "mailto"))
_HEADINGS: Final = 6
_LOOKS: Final = (
    "body{font-family:sans-serif;max-width:50em;margin:2em auto;padding:0 1em;line-height:1.4}"
    "table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2em .5em;text-align:left;vertical-align:top}"
    "img{max-width:100%}pre{white-space:pre-wrap}"
)


def page(title: str, reader: Reader) -> str:
    """Return the page of a document; `TooLargeToShowError` if it is more than is shown."""
    head = (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{PAGE_POLICY}">\n'
        f"<title>{_text(title)}</title>\n<style>{_LOOKS}</style>\n</head>\n<body>\n"
    )
    writer = _Writer(reader)
    measure = Measure()
    lines = [measure.passed(line) for line in writer.lines(reader.blocks())]
    return head + "".join(f"{line}\n" for line in lines) + "</body>\n</html>\n"


class _Writer:
    """Writes blocks, with the pictures that there is room for."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._pictures_left = SHOWN_BYTES_MAX // 2

    def lines(self, blocks: Iterable[Block]) -> Iterator[str]:
        """Yield the lines of a page's body."""
        lists: list[str] = []
        for block in blocks:
            if isinstance(block, Item):
                yield from self._item(block, lists)
                continue
            yield from _closed(lists, 0)
            yield self._block(block)
        yield from _closed(lists, 0)

    def _item(self, item: Item, lists: list[str]) -> Iterator[str]:
        tag = "ol" if item.ordered else "ul"
        depth = min(item.depth, len(lists))
        yield from _closed(lists, depth + 1)
        if len(lists) > depth and (lists[depth] != tag or item.begins_list):
            yield from _closed(lists, depth)
        if len(lists) > depth:
            yield "</li>"
        else:
            lists.append(tag)
            yield f'<ol start="{item.start}">' if item.ordered and item.start != 1 else f"<{tag}>"
        yield f"<li>{self._line(item.line)}"

    def _block(self, block: Block) -> str:
        match block:
            case Heading(level, line):
                tag = f"h{min(level, _HEADINGS)}"
                return f"<{tag}>{self._line(line)}</{tag}>"
            case Paragraph(line) | Item(line):
                return f"<p>{self._line(line)}</p>"
            case Quote(line):
                return f"<blockquote><p>{self._line(line)}</p></blockquote>"
            case Code(text):
                return f"<pre>{_text(text)}</pre>"
            case Table(rows, header_rows):
                return "\n".join(
                    ["<table>", *(self._row(row, "th" if at < header_rows else "td") for at, row in enumerate(rows)),
                     "</table>"]
                )  # fmt: skip
            case Rule():
                return "<hr>"

    def _row(self, row: Iterable[Line], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{self._line(cell)}</{tag}>" for cell in row) + "</tr>"

    def _line(self, line: Line) -> str:
        return "".join(map(self._span, line))

    def _span(self, span: Span) -> str:
        if isinstance(span, Picture):
            return self._picture(span)
        text = _text(span.text).replace("\n", "<br>")
        if isinstance(span, Note):
            return f"<sup>{text}</sup>"
        for tag, is_set in (("code", span.code), ("i", span.italic), ("b", span.bold), ("s", span.strike)):
            text = f"<{tag}>{text}</{tag}>" if is_set else text
        leads = span.link is not None and _is_reachable(span.link)
        return f'<a rel="noreferrer" href="{_text(span.link or "")}">{text}</a>' if leads else text

    def _picture(self, span: Picture) -> str:
        detail = self._reader.tree.by_id.get((span.link or "").removeprefix(_NODE))
        content = None if detail is None else self._reader.picture(detail)
        kind = "" if content is None else media_type(content)
        if content is None or kind not in SHOWN or len(content) * 4 // 3 > self._pictures_left:
            return f"[{_text(span.text) or 'picture'}]"
        self._pictures_left -= len(content) * 4 // 3
        return f'<img alt="{_text(span.text)}" src="data:{kind};base64,{b64encode(content).decode()}">'


def _closed(lists: list[str], depth: int) -> Iterator[str]:
    """Yield what ends the lists that are deeper than this."""
    while len(lists) > depth:
        yield f"</li></{lists.pop()}>"


def _text(text: str) -> str:
    # Half of a pair has no place in UTF-8, nor has a control character in a page.
    sound = text.encode("utf-8", "replace").decode()
    return escape("".join(char if char >= " " or char in "\t\n" else "\N{REPLACEMENT CHARACTER}" for char in sound))


def _is_reachable(address: str) -> bool:
    try:
        return urlsplit(address.strip()).scheme in _SCHEMES
    except ValueError:
        return False
