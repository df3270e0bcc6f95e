"""CommonMark: blocks as the text that `content` would say them with.

`markdown.read` brings back the same blocks, but for what that text has no words
for: formatting of spaces, breaks inside cells, and headings below the sixth level.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Final, NamedTuple

from officeplane.formats.blocks import (
    DONE,
    OPEN,
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

_HEADINGS: Final = 6
_SPECIAL: Final = frozenset("\\`*_[]<&~")
_LINE_START: Final = re.compile(r"(?:([#>+=-])|(\d{1,9})([.)])(?=\s|$))")


def written(blocks: Iterable[Block], enough: int | None = None) -> str:
    """Return blocks as CommonMark with tables and strikethrough; no more of them than make `enough` characters."""
    parts: list[str] = []
    length = 0
    lists = _Lists()
    was_item = False
    for block in blocks:
        is_item = isinstance(block, Item)
        if parts:
            parts.append("\n" if is_item and was_item and not lists.begins(block) else "\n\n")
        parts.append(lists.item(block) if isinstance(block, Item) else _block(block))
        length += len(parts[-1])
        if enough is not None and length > enough:
            break
        if not is_item:
            lists.forget()
        was_item = is_item
    return "".join(parts)


def line(spans: Line, *, in_table: bool = False) -> str:
    """Return the text of one paragraph; in a table without breaks and bars."""
    if in_table:
        spans = tuple(replace(span, text=" ".join(span.text.split("\n"))) for span in spans)
    atoms = _atoms(_settled(spans))
    text = _joined(atoms)
    return text.replace("|", "\\|") if in_table else _guarded(text)


def _block(block: Block) -> str:
    match block:
        case Heading(level, spans):
            text = " ".join(line(spans).split("\\\n"))
            # Signs at its end would be taken for the end of the heading's own.
            return f"{'#' * min(level, _HEADINGS)} {_ended(text)}".rstrip()
        case Paragraph(spans):
            return line(spans)
        case Quote(spans):
            return "> " + line(spans).replace("\n", "\n> ")
        case Code(text):
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            return f"{fence}\n{text}\n{fence}"
        case Table(rows, header_rows):
            return _table(rows, header_rows)
        case Rule():
            return "***"
        case Item():
            return _Lists().item(block)


def _ended(text: str) -> str:
    kept = text.rstrip("#")
    return text if kept == text else f"{kept}\\{text[len(kept) :]}"


def _table(rows: Sequence[Sequence[Line]], header_rows: int) -> str:
    columns = max((len(row) for row in rows), default=0)
    cells = [[line(cell, in_table=True) for cell in row] + [""] * (columns - len(row)) for row in rows]
    if not header_rows:
        cells.insert(0, [""] * columns)
    cells.insert(1, ["---"] * columns)
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


class _Open(NamedTuple):
    sign: str
    number: int
    ordered: bool
    width: int


class _Lists:
    """The lists that an item may go on with, the outermost first."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._last: tuple[bool, str] | None = None

    def begins(self, item: Block) -> bool:
        """Tell whether an item begins another list beside the last one."""
        return isinstance(item, Item) and item.depth == 0 and (
            not self._open or item.begins_list or self._open[0].ordered != item.ordered
        )  # fmt: skip

    def forget(self) -> None:
        """Note that something else stands between."""
        self._open.clear()
        self._last = None

    def item(self, item: Item) -> str:
        """Return an item with its sign, below those it belongs to."""
        depth = min(item.depth, len(self._open))
        before = self._open[depth] if depth < len(self._open) else None
        del self._open[depth:]
        if before is not None and before.ordered == item.ordered and not item.begins_list:
            opened = before._replace(number=before.number + 1)
        else:
            # Two lists that touch would be one if they had the same sign.
            is_beside = before is not None and before.ordered == item.ordered
            signs = (".", ")") if item.ordered else ("-", "*")
            sign = signs[1] if is_beside and before is not None and before.sign == signs[0] else signs[0]
            opened = _Open(sign, max(item.start, 0), item.ordered, 0)
        label = f"{opened.number}{opened.sign} " if item.ordered else f"{opened.sign} "
        opened = opened._replace(width=len(label))
        indent = " " * sum(other.width for other in self._open)
        self._open.append(opened)
        return indent + label + _ticked(line(item.line)).replace("\n", "\n" + indent + " " * len(label))


def _ticked(text: str) -> str:
    """Return the text of an item with the sign of a task in place of its box."""
    for box, sign in ((OPEN, "[ ] "), (DONE, "[x] ")):
        if text.startswith(f"{box} "):
            return sign + text[2:]
    return text


class _Atom(NamedTuple):
    """A character as it is written, or a mark that opens or closes a formatting."""

    shown: str
    char: str
    opens: bool = False
    closes: bool = False


def _settled(spans: Line) -> list[Span]:
    """Return spans of which none begins or ends with a space in a formatting that its neighbour has not."""
    pieces: list[Span] = []
    for span in spans:
        if not span.text and not isinstance(span, Picture):
            continue
        if isinstance(span, Picture | Note) or span.code:
            pieces.append(span)
            continue
        text = span.text.strip()
        begin = span.text.find(text) if text else len(span.text)
        parts = (span.text[:begin], text, span.text[begin + len(text) :])
        pieces += [replace(span, text=part) for part in parts if part]
    for at, span in enumerate(pieces):
        if not span.text.strip() and not span.code and not isinstance(span, Picture):
            before = next((one for one in reversed(pieces[:at]) if one.text.strip()), _PLAIN)
            behind = next((one for one in pieces[at + 1 :] if one.text.strip()), _PLAIN)
            pieces[at] = Span(
                span.text,
                before.bold and behind.bold,
                before.italic and behind.italic,
                before.strike and behind.strike,
                link=before.link if before.link == behind.link and type(before) is type(behind) is Span else None,
            )
    return pieces


_PLAIN: Final = Span("")


def _atoms(spans: Sequence[Span]) -> list[_Atom]:
    atoms: list[_Atom] = []
    opened: list[str] = []
    link: str | None = None
    for span in spans:
        inside = isinstance(span, Picture | Note)
        wanted_link = None if inside else span.link
        marks = [sign for sign, is_set in (("~~", span.strike), ("**", span.bold), ("*", span.italic)) if is_set]
        kept = 0
        if wanted_link == link:
            while kept < min(len(marks), len(opened)) and marks[kept] == opened[kept]:
                kept += 1
        atoms += [_Atom(sign, "", closes=True) for sign in reversed(opened[kept:])]
        if wanted_link != link:
            if link is not None:
                atoms.append(_Atom(f"]({_address(link)})", ")"))
            if wanted_link is not None:
                atoms.append(_Atom("[", "["))
            link = wanted_link
        atoms += [_Atom(sign, "", opens=True) for sign in marks[kept:]]
        opened = marks
        atoms += _content(span)
    atoms += [_Atom(sign, "", closes=True) for sign in reversed(opened)]
    if link is not None:
        atoms.append(_Atom(f"]({_address(link)})", ")"))
    return atoms


def _content(span: Span) -> list[_Atom]:
    if isinstance(span, Picture):
        return [_Atom(f"![{_joined(_content(Span(span.text)))}]({_address(span.link or '')})", ")")]
    if isinstance(span, Note):
        return [_Atom(f"[^{span.text}]", "]")]
    if span.code:
        text = span.text.replace("\n", " ")
        fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
        pad = " " if text[:1] in {"`", " "} or text[-1:] in {"`", " "} else ""
        return [_Atom(f"{fence}{pad}{text}{pad}{fence}", "`")]
    return [_Atom(_shown(char), char) for char in span.text]


def _shown(char: str) -> str:
    if char in _SPECIAL:
        return "\\" + char
    return "\\\n" if char == "\n" else "&#9;" if char == "\t" else char


def _joined(atoms: Sequence[_Atom]) -> str:
    shown = [atom.shown for atom in atoms]
    places = [at for at, atom in enumerate(atoms) if atom.char]
    for ends in (places, places[::-1]):
        # A break with nothing before or behind it would be none.
        for at in takewhile(lambda place: atoms[place].char.isspace(), ends):
            shown[at] = "&#10;" if atoms[at].char == "\n" else shown[at]
    for before, behind in pairwise(places):
        marks = atoms[before + 1 : behind]
        # A mark between a letter and a sign is none, unless the letter is written with signs, too.
        one, other = atoms[before], atoms[behind]
        is_mixed = len({mark.shown[0] for mark in marks}) > 1
        if any(mark.closes for mark in marks) and (is_mixed or _is_sign(one)) and _is_letter(other):
            shown[behind] = f"&#{ord(other.char)};"
        if any(mark.opens for mark in marks) and _is_letter(one) and (is_mixed or _is_sign(other)):
            shown[before] = f"&#{ord(one.char)};"
        if one.shown == "!" and other.shown.startswith("["):
            shown[before] = "\\!"
    return "".join(shown)


def _is_letter(atom: _Atom) -> bool:
    return len(atom.shown) == 1 and not atom.char.isspace() and not _is_sign(atom)


def _is_sign(atom: _Atom) -> bool:
    # As CommonMark has it: punctuation and symbols.
    return len(atom.shown) > 1 or unicodedata.category(atom.char)[0] in "PS"


def _address(url: str) -> str:
    if re.search(r"[\s<>()\\]", url) is None:
        return url
    escaped = url.replace("\\", "%5C").replace("<", "%3C").replace(">", "%3E")
    return "<" + re.sub(r"\s", "%20", escaped) + ">"


def _guarded(text: str) -> str:
    """Return a text of which no line begins like a heading, a list or a quote."""
    lines = text.split("\n")
    return "\n".join(_guarded_line(one, is_last=at == len(lines) - 1) for at, one in enumerate(lines))


def _guarded_line(text: str, *, is_last: bool) -> str:
    stripped = text.lstrip(" ")
    lead = len(text) - len(stripped)
    body = stripped.rstrip(" ") if is_last else stripped
    behind = len(stripped) - len(body)
    found = _LINE_START.match(body)
    if found is not None:
        at = found.start(1) if found[1] else found.start(3)
        body = f"{body[:at]}\\{body[at:]}"
    return "&#32;" * lead + body + "&#32;" * behind
