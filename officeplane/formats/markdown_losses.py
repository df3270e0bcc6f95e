"""What `content` says that no document will show as it was meant: images, HTML, footnotes, odd links, alignment."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from markdown_it.token import Token

from officeplane.domain.warning import EditWarning
from officeplane.formats.markdown_lines import kept_link

NOT_KEPT: Final = "not_kept"
"""The code of what `content` has and the document has not."""

_FOOTNOTE: Final = re.compile(r"\[\^[^\]\s]{1,100}\]")
_SHOWN_MAX: Final = 80
_SENTENCES: Final = {
    "image": "became its alternative text: content takes no images",
    "HTML": "stays text: content is Markdown without HTML",
    "footnote": "stays text: content has no footnotes",
    "link": "became text: links lead to http, https and mailto",
    "alignment": "is not kept: columns of tables are aligned as their style has it",
}


def not_kept(tokens: Sequence[Token]) -> list[EditWarning]:
    """Return a warning for each kind of things that are lost, with the first of them and how many there are."""
    found: dict[str, list[str]] = {}
    for kind, what in _found(tokens):
        found.setdefault(kind, []).append(what)
    return [EditWarning(NOT_KEPT, f"the {kind} {_shown(whats)} {_SENTENCES[kind]}") for kind, whats in found.items()]


def _found(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        match token.type:
            case "inline":
                yield from _found(token.children or ())
            case "th_open" if style := token.attrGet("style"):
                yield "alignment", str(style)
            case "image":
                yield "image", str(token.attrGet("src") or "")
            case "html_inline":
                yield "HTML", token.content
            case "link_open" if kept_link(url := str(token.attrGet("href") or "")) is None:
                yield "link", url
            case "text":
                yield from (("footnote", mark) for mark in _FOOTNOTE.findall(token.content))
            case _:
                pass


def _shown(whats: Sequence[str]) -> str:
    first = whats[0] if len(whats[0]) <= _SHOWN_MAX else whats[0][: _SHOWN_MAX - 1] + "…"
    return repr(first) if len(whats) == 1 else f"{first!r} (and {len(whats) - 1} more)"
