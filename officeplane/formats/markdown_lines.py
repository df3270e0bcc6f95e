"""Lines of Markdown: the tokens within a paragraph as spans of text, each in one formatting."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from markdown_it.token import Token

from officeplane.formats.blocks import Line, Note, Picture, Span
from officeplane.formats.markdown_notes import MARK

_LINK: Final = re.compile(r"(?:https?://|mailto:)\S{1,2000}", re.IGNORECASE)
_UNSTORABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_PICTURES: Final = ("node:", "data:")


def line_of(token: Token, *, holds_pictures: bool) -> Line:
    """Return the line that a token holds; without pictures each of them is its alternative text."""
    spans: list[Span] = []
    for span in _spans(token.children or (), holds_pictures=holds_pictures):
        last = spans[-1] if spans else None
        if type(last) is type(span) is Span and last is not None and _Style.of(last) == _Style.of(span):
            spans[-1] = _Style.of(last).span(last.text + span.text)
        else:
            spans.append(span)
    return tuple(spans)


def storable(text: str) -> str:
    """Return a text that a document can hold: `&#12;` names what it may not."""
    return _UNSTORABLE.sub(_REPLACEMENT, text.replace("\r", "\n"))


def kept_link(url: str) -> str | None:
    """Return an address that a document may lead to, or None."""
    return url if _LINK.fullmatch(url) else None


def kept_picture(url: str) -> str | None:
    """Return what names a picture of the document, or holds the bytes of one; None for an address elsewhere."""
    return url if url.startswith(_PICTURES) else None


class _Style(NamedTuple):
    bold: int = 0
    italic: int = 0
    strike: int = 0
    code: bool = False
    link: str | None = None

    @classmethod
    def of(cls, span: Span) -> "_Style":
        return cls(span.bold, span.italic, span.strike, span.code, span.link)

    def span(self, text: str) -> Span:
        return Span(text, self.bold > 0, self.italic > 0, self.strike > 0, self.code, self.link)


def _spans(tokens: Sequence[Token], *, holds_pictures: bool) -> Iterator[Span]:
    style = _Style()
    for token in tokens:
        text = token.content
        match token.type:
            case "strong_open" | "strong_close":
                style = style._replace(bold=style.bold + token.nesting)
            case "em_open" | "em_close":
                style = style._replace(italic=style.italic + token.nesting)
            case "s_open" | "s_close":
                style = style._replace(strike=style.strike + token.nesting)
            case "link_open":
                style = style._replace(link=kept_link(str(token.attrGet("href") or "")))
            case "link_close":
                style = style._replace(link=None)
            case "softbreak":
                text = " "
            case "hardbreak":
                text = "\n"
            case "image":
                text = "".join(span.text for span in _spans(token.children or (), holds_pictures=False))
                picture = kept_picture(str(token.attrGet("src") or "")) if holds_pictures else None
                if picture is not None:
                    yield Picture(text, link=picture)
                    continue
            case "code_inline":
                if text:
                    yield style._replace(code=True).span(storable(text))
                continue
            case _ if token.type == MARK:
                yield Note(text)
                continue
            case _:
                pass
        if text:
            yield style.span(storable(text))
