"""Lines of Markdown: the tokens within a paragraph as spans of text, each in one formatting."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from markdown_it.token import Token

from officeplane.formats.blocks import Line, Span

_LINK: Final = re.compile(r"(?:https?://|mailto:)\S{1,2000}", re.IGNORECASE)
_UNSTORABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


def line_of(token: Token) -> Line:
    """Return the line that a token holds."""
    spans: list[Span] = []
    for text, style in _stretches(token.children or ()):
        if not text:
            continue
        span = style.span(storable(text))
        last = spans[-1] if spans else None
        if last is not None and style.span(last.text) == last:
            spans[-1] = style.span(last.text + span.text)
        else:
            spans.append(span)
    return tuple(spans)


def storable(text: str) -> str:
    """Return a text that a document can hold: `&#12;` names what it may not."""
    return _UNSTORABLE.sub(_REPLACEMENT, text.replace("\r", "\n"))


def kept_link(url: str) -> str | None:
    """Return an address that a document may lead to, or None."""
    return url if _LINK.fullmatch(url) else None


class _Style(NamedTuple):
    bold: int = 0
    italic: int = 0
    strike: int = 0
    code: bool = False
    link: str | None = None

    def span(self, text: str) -> Span:
        return Span(text, self.bold > 0, self.italic > 0, self.strike > 0, self.code, self.link)


def _stretches(tokens: Sequence[Token]) -> Iterator[tuple[str, _Style]]:
    style = _Style()
    for token in tokens:
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
                yield " ", style
            case "hardbreak":
                yield "\n", style
            case "image":
                yield "".join(text for text, _ in _stretches(token.children or ())), style
            case "code_inline":
                yield token.content, style._replace(code=True)
            case _:
                yield token.content, style
