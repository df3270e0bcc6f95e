"""What `content` says that no document will show as it was meant: images, HTML, footnotes, odd links, alignment."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from markdown_it.token import Token

from officeplane.domain.warning import EditWarning
from officeplane.formats.markdown_lines import kept_link, kept_picture
from officeplane.formats.markdown_notes import ENDED, SAID, marks_in

NOT_KEPT: Final = "not_kept"
"""The code of what `content` has and the document has not."""

_FOOTNOTE: Final = re.compile(r"\[\^[^\]\s]{1,100}\]")
_SHOWN_MAX: Final = 80
_SENTENCES: Final = {
    "image": "became its alternative text: a picture is node: and the id of one of the document, or data:, or a file "
    "for insert_image",
    "picture": "became its alternative text: no pictures are here",
    "HTML": "stays text: content is Markdown without HTML",
    "footnote": "stays text: here are no footnotes",
    "note": "stays text: no mark in the text is its own",
    "link": "became text: links lead to http, https and mailto",
    "link of a picture": "is not kept: pictures lead nowhere",
    "alignment": "is not kept: columns of tables are aligned as their style has it",
}


def not_kept(tokens: Sequence[Token], *, holds_pictures: bool, holds_notes: bool) -> list[EditWarning]:
    """Return a warning for each kind of things that are lost, with the first of them and how many there are.

    Of marks without a note nothing is said: they may be of notes that the document has.
    """
    found: dict[str, list[str]] = {}
    for kind, what in _found(tokens, holds_pictures=holds_pictures):
        found.setdefault(kind, []).append(what)
    if holds_notes:
        found.pop("footnote", None)
        if others := _unmarked(tokens):
            found["note"] = others
    return [EditWarning(NOT_KEPT, f"the {kind} {_shown(whats)} {_SENTENCES[kind]}") for kind, whats in found.items()]


def footnote_not_kept(label: str) -> EditWarning:
    """Return the warning of a mark that is of no note."""
    return EditWarning(NOT_KEPT, f"the footnote '[^{label}]' stays text: no such note stands here, and none is given")


def _found(tokens: Sequence[Token], *, holds_pictures: bool) -> Iterator[tuple[str, str]]:
    is_note, link = False, ""
    for token in tokens:
        match token.type:
            case "inline":
                yield from _found(token.children or (), holds_pictures=holds_pictures and not is_note)
            case "th_open" if style := token.attrGet("style"):
                yield "alignment", str(style)
            case "image":
                source = str(token.attrGet("src") or "")
                if kept_picture(source) is None:
                    yield "image", source
                elif not holds_pictures:
                    yield "picture", source
                elif link:
                    yield "link of a picture", link
            case "html_inline":
                yield "HTML", token.content
            case "link_open":
                link = str(token.attrGet("href") or "")
                if kept_link(link) is None:
                    yield "link", link
            case "link_close":
                link = ""
            case "text":
                yield from (("footnote", mark) for mark in _FOOTNOTE.findall(token.content))
            case _ if token.type in {SAID, ENDED}:
                is_note = token.type == SAID
            case _:
                pass


def _unmarked(tokens: Sequence[Token]) -> list[str]:
    marked = marks_in(tokens)
    labels = [token.content for token in tokens if token.type == SAID]
    return [f"[^{label}]" for at, label in enumerate(labels) if label not in marked or label in labels[:at]]


def _shown(whats: Sequence[str]) -> str:
    first = whats[0] if len(whats[0]) <= _SHOWN_MAX else whats[0][: _SHOWN_MAX - 1] + "…"
    return repr(first) if len(whats) == 1 else f"{first!r} (and {len(whats) - 1} more)"
