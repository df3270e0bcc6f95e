"""Footnotes in Markdown: `[^1]` where the mark stands, and `[^1]: text` for what the note says.

A note may have several paragraphs; all but the first begin with four spaces. What is
written so within a list or a quote is text.
"""

import re
from collections.abc import Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

MARK: Final = "note_mark"
"""The type of a token that stands for a mark; its content is the label."""

SAID: Final = "note_said"
"""The type of the token before the paragraphs of a note."""

ENDED: Final = "note_ended"

_MARK: Final = re.compile(r"\[\^([^\]\s]{1,100})\](?!\()")
_SAID: Final = re.compile(r"\[\^([^\]\s]{1,100})\]:[ \t]*(.*)")
_INDENT: Final = 4


def read_notes(parser: MarkdownIt) -> None:
    """Have a parser read notes."""
    parser.block.ruler.before("reference", "note", _read_note, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.before("link", "note_mark", _read_mark)


def marks_in(tokens: Sequence[Token]) -> set[str]:
    """Return the labels of all marks that stand in the text itself."""
    found: set[str] = set()
    is_text = True
    for token in tokens:
        if token.type in {SAID, ENDED}:
            is_text = token.type == ENDED
        elif is_text:
            found |= {inner.content for inner in token.children or () if inner.type == MARK}
    return found


def _read_note(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if state.level or state.sCount[start_line] - state.blkIndent >= _INDENT:
        return False
    found = _SAID.match(state.src, state.bMarks[start_line] + state.tShift[start_line], state.eMarks[start_line])
    if found is None:
        return False
    if silent:
        return True
    state.push(SAID, "", 0).content = found[1]
    line = start_line + 1
    words = [found[2]]
    while True:
        while line < end_line and not state.isEmpty(line) and not _ends(state, line, end_line):
            words.append(state.getLines(line, line + 1, state.sCount[line], keepLastLF=False))
            line += 1
        _push(state, "\n".join(words).strip())
        following = line
        while following < end_line and state.isEmpty(following):
            following += 1
        if following >= end_line or following == line or state.sCount[following] - state.blkIndent < _INDENT:
            break
        line, words = following, []
    state.push(ENDED, "", 0)
    state.line = line
    return True


def _ends(state: StateBlock, line: int, end_line: int) -> bool:
    """Tell whether something else begins in a line, or another note."""
    if state.sCount[line] - state.blkIndent >= _INDENT:
        return False
    return any(rule(state, line, end_line, True) for rule in state.md.block.ruler.getRules("paragraph"))


def _push(state: StateBlock, words: str) -> None:
    inline = state.push("inline", "", 0)
    inline.content = words
    inline.children = []


def _read_mark(state: StateInline, silent: bool) -> bool:
    found = _MARK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push(MARK, "", 0).content = found[1]
    state.pos = found.end()
    return True
