"""Markdown: what `content` says, as blocks.

CommonMark with tables, strikethrough and lists of tasks; pictures and footnotes where
these can be held. HTML is text like any other, images from elsewhere are their alt
text, and a link leads to http, https or mailto or is none: of these a warning tells.
Whatever the text is, something sensible comes out: none of its words is lost, and
nothing raises.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from markdown_it.token import Token

from officeplane.domain.warning import EditWarning
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
    Quote,
    Rule,
    Span,
    Table,
    with_lines,
)
from officeplane.formats.data_uris import KeptAside
from officeplane.formats.markdown_lines import line_of, storable
from officeplane.formats.markdown_losses import not_kept
from officeplane.formats.markdown_notes import ENDED, SAID, marks_in
from officeplane.formats.markdown_rules import parser

DEPTH_MAX: Final = 8
"""The deepest list: Word and PowerPoint have nine levels."""

_TICKED: Final = re.compile(r"\[[ xX]\](?= )")


class Read(NamedTuple):
    """What a text says, and what of it no document will show."""

    blocks: list[Block]
    warnings: list[EditWarning]


class Holds(NamedTuple):
    """What besides text can be where content goes."""

    pictures: bool = False
    notes: bool = False


TEXTS: Final = Holds(pictures=True, notes=True)
"""What the text of a Word document holds."""

SLIDES: Final = Holds(pictures=True)
"""What lies on slides."""

WORDS: Final = Holds()
"""What has text alone, such as a cell of a workbook or a shape."""


def read(content: str | None, holds: Holds = WORDS) -> Read:
    """Return what a text says, block by block; None says nothing."""
    if not content:
        return Read([], [])
    # Lone surrogates have no place in any document, and the parser's way with links raises at them.
    aside = KeptAside(content.encode("utf-8", "replace").decode())
    tokens = parser(holds_notes=holds.notes).parse(aside.text)
    if aside:
        _restore(tokens, aside)
    # The reader puts boxes in place of signs, so it is the last to look.
    warnings = not_kept(tokens, holds_pictures=holds.pictures, holds_notes=holds.notes)
    return Read(_Reader(tokens, holds).read(), warnings)


def _restore(tokens: Sequence[Token], aside: KeptAside) -> None:
    for token in tokens:
        token.content = aside.restored(token.content)
        for name in ("src", "href"):
            if name in token.attrs:
                token.attrs[name] = aside.restored(str(token.attrs[name]))
        _restore(token.children or (), aside)


class _List:
    """A list that is being read."""

    def __init__(self, *, ordered: bool, start: int) -> None:
        self.ordered = ordered
        self.start = start
        self.begins = True


class _Reader:
    """Turns the parser's flat tokens into blocks."""

    def __init__(self, tokens: Sequence[Token], holds: Holds) -> None:
        self._tokens = tokens
        self._holds = holds
        self._notes: list[tuple[str, list[Line]]] = []  # labels, and what each note says
        self._is_in_note = False
        self._blocks: list[Block] = []
        self._containers: list[_List | None] = []  # None is a quote
        self._item_at: int | None = None  # where the item stands to which the next paragraph belongs
        self._rows: list[tuple[Line, ...]] = []
        self._cells: list[Line] = []
        self._opened: Token | None = None

    def read(self) -> list[Block]:
        for token in self._tokens:
            step = self._steps.get(token.type)
            if step is not None:
                step(self, token)
        return self._with_notes() if self._notes else self._blocks

    def _with_notes(self) -> list[Block]:
        """Return the blocks with what each mark of a note says; notes that have no mark are text."""
        marked = marks_in(self._tokens)
        known: dict[str, list[Line]] = {}
        blocks: list[Block] = []
        for label, lines in self._notes:
            # The first of a label counts, as with addresses of links.
            if label in marked and label not in known:
                known[label] = lines
            else:
                first, *others = lines
                blocks += [Paragraph((Span(f"[^{label}]: "), *first)), *map(Paragraph, others)]
        return [*(with_lines(block, lambda line: _noted(line, known)) for block in self._blocks), *blocks]

    def _open_note(self, token: Token) -> None:
        self._notes.append((token.content, []))
        self._is_in_note = True

    def _close_note(self, _token: Token) -> None:
        self._is_in_note = False

    def _open_list(self, token: Token) -> None:
        # It says where it begins only when that is not 1.
        start = int(token.attrs.get("start", 1))
        self._containers.append(_List(ordered=token.type == "ordered_list_open", start=start))

    def _open_quote(self, _token: Token) -> None:
        self._containers.append(None)

    def _close_container(self, _token: Token) -> None:
        self._containers.pop()

    def _open_item(self, _token: Token) -> None:
        around = self._containers[-1]
        if around is None:
            return
        depth = sum(container is not None for container in self._containers) - 1
        self._item_at = len(self._blocks)
        self._blocks.append(Item((), around.ordered, min(depth, DEPTH_MAX), around.begins, around.start))
        around.begins = False

    def _close_item(self, _token: Token) -> None:
        self._item_at = None

    def _open_text(self, token: Token) -> None:
        self._opened = token

    def _read_inline(self, token: Token) -> None:
        if self._is_in_note:
            line = line_of(token, holds_pictures=False)
            # A note has no notes of its own.
            self._notes[-1][1].append(tuple(Span(f"[^{it.text}]") if isinstance(it, Note) else it for it in line))
            return
        self._tick(token)
        line = line_of(token, holds_pictures=self._holds.pictures)
        opened = self._opened
        if opened is None:
            return
        around = self._containers[-1] if self._containers else None
        if opened.type in {"th_open", "td_open"}:
            self._cells.append(line)
        elif around is not None and self._continue_item(line):
            pass
        elif opened.type == "heading_open":
            self._blocks.append(Heading(int(opened.tag[1:]), line))
        elif self._containers and around is None:
            self._blocks.append(Quote(line))
        else:
            self._blocks.append(Paragraph(line))

    def _tick(self, token: Token) -> None:
        """Put a box, ticked or not, in place of the sign with which an item says that it is a task."""
        begins = self._item_at is not None and self._item_at == len(self._blocks) - 1 and bool(self._containers)
        first = token.children[0] if token.children else None
        if not begins or self._containers[-1] is None or first is None or first.type != "text":
            return
        item = self._blocks[-1]
        if isinstance(item, Item) and not item.line and _TICKED.match(token.content) and _TICKED.match(first.content):
            first.content = (OPEN if first.content[1] == " " else DONE) + first.content[3:]

    def _continue_item(self, line: Line) -> bool:
        """Put a line into the item that was just begun, below what it says already."""
        if self._item_at is None or self._item_at != len(self._blocks) - 1:
            return False
        item = self._blocks[self._item_at]
        if not isinstance(item, Item):
            return False
        between = (Span("\n"),) if item.line else ()
        self._blocks[self._item_at] = replace(item, line=(*item.line, *between, *line))
        return True

    def _read_code(self, token: Token) -> None:
        self._blocks.append(Code(storable(token.content.removesuffix("\n"))))

    def _read_rule(self, _token: Token) -> None:
        self._blocks.append(Rule())

    def _close_row(self, _token: Token) -> None:
        self._rows.append(tuple(self._cells))
        self._cells = []

    def _close_table(self, _token: Token) -> None:
        header, *rows = self._rows
        # Markdown has no table without a header; an empty one says that none is meant.
        if any(header) or not rows:
            self._blocks.append(Table((header, *rows), header_rows=1))
        else:
            self._blocks.append(Table(tuple(rows)))
        self._rows = []

    _steps: Final[dict[str, Callable[["_Reader", Token], None]]] = {
        "bullet_list_open": _open_list,
        "ordered_list_open": _open_list,
        "bullet_list_close": _close_container,
        "ordered_list_close": _close_container,
        "blockquote_open": _open_quote,
        "blockquote_close": _close_container,
        "list_item_open": _open_item,
        "list_item_close": _close_item,
        "paragraph_open": _open_text,
        "heading_open": _open_text,
        "th_open": _open_text,
        "td_open": _open_text,
        "inline": _read_inline,
        "fence": _read_code,
        "code_block": _read_code,
        "hr": _read_rule,
        "tr_close": _close_row,
        "table_close": _close_table,
        SAID: _open_note,
        ENDED: _close_note,
    }


def _noted(line: Line, known: Mapping[str, Sequence[Line]]) -> Line:
    return tuple(replace(one, says=tuple(known.get(one.text, ()))) if isinstance(one, Note) else one for one in line)
