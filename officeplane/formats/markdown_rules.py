"""Rules of Markdown: what is read otherwise than in CommonMark, so that nothing is lost and nothing takes long."""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.reference import reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline

from officeplane.formats.markdown_notes import read_notes

_NESTING_MAX: Final = 32
_BRACKETS_MAX: Final = 2_000
_HTML: Final = re.compile(r"</?[A-Za-z][A-Za-z0-9-]{0,100}(?:[\s/][^<>]{0,1000})?>|<!--")


def parser(*, holds_notes: bool) -> MarkdownIt:
    """Return a parser, which nobody else uses."""
    # A parser of its own each time costs a tenth of a millisecond and shares nothing.
    made = _Markdown("commonmark", {"html": False, "maxNesting": 2 * _NESTING_MAX})
    made.enable(["table", "strikethrough"])
    made.block.ruler.before("code", "deep", _read_deep_text)
    made.block.ruler.at("reference", _read_reference)
    made.inline.ruler.at("html_inline", _read_html)
    if holds_notes:
        read_notes(made)
    made.core.ruler.before("inline", "brackets", _escape_brackets)
    return made


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - the library's name
        """Accept every link: which are kept is decided when they are read, so that those refused keep their text."""
        return True


def _read_reference(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Take no footnote for the address of a link: its words would be gone."""
    begin = state.bMarks[start_line] + state.tShift[start_line]
    return not state.src.startswith("[^", begin) and reference(state, start_line, end_line, silent)


def _read_html(state: StateInline, silent: bool) -> bool:
    """Tell tags from the text that they stay."""
    found = _HTML.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = found[0]
    state.pos = found.end()
    return True


def _escape_brackets(state: StateCore) -> None:
    """Take no bracket for a link where there are thousands: looking for them takes time in squares."""
    for token in state.tokens:
        if token.type == "inline" and token.content.count("[") > _BRACKETS_MAX:
            token.content = token.content.replace("[", "\\[")


def _read_deep_text(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Take what is nested too deeply as plain text: the parser itself would leave it out."""
    if silent or state.level < _NESTING_MAX:
        return False
    line = start_line + 1
    while line < end_line and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        line += 1
    state.line = line
    opened = state.push("paragraph_open", "p", 1)
    opened.map = [start_line, line]
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start_line, line, state.blkIndent, keepLastLF=False).strip()
    inline.map = [start_line, line]
    inline.children = []
    state.push("paragraph_close", "p", -1)
    return True
