r"""Translation: a pattern as whoever gave it means it, said in RE2's words.

RE2 has read the pattern before, so it is known to be well formed. What differs:
sets such as `\w` are those of Unicode, nothing matches the marks that stand in a
text without being text, and `\b` can be told by marks where RE2, which knows
only words of ASCII, would be wrong.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from officeplane.formats.patterns.characters import (
    BOUNDARY,
    BY_LETTER,
    INSIDE,
    NEVER,
    NO_TEXT,
    Named,
    written,
)

_Kind = Literal["character", "begin", "end", "edge", "frame"]
_MARKS: Final = f"[{BOUNDARY}{INSIDE}]*"
_NOTHING: Final = "(?:)"
_REPETITION: Final = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_CONTROLS: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_EDGES: Final = {"b": BOUNDARY, "B": INSIDE}


class _Token(NamedTuple):
    kind: _Kind
    said: str
    marked: str = ""


@dataclass(frozen=True, slots=True)
class Translated:
    """A pattern in RE2's words."""

    plain: str
    marked: str
    """For texts with marks before each character and at the end, as many as there are `edges`."""
    skeleton: str
    """Without conditions of place: it matches the empty text if the pattern can match any."""
    edges: int
    """How many `\\b` and `\\B` there are."""


def translated(pattern: str) -> Translated:
    """Return a pattern that RE2 takes in its words."""
    plain: list[str] = []
    marked: list[str] = []
    skeleton: list[str] = []
    edges = 0
    for kind, said, in_marked in _Reader(pattern).tokens():
        plain.append(said)
        skeleton.append(said if kind in {"character", "frame"} else _NOTHING)
        if kind in {"character", "end"}:
            marked.append(f"(?:{_MARKS}{said})")
        else:
            marked.append(in_marked or said)
        edges += kind == "edge"
    return Translated("".join(plain), "".join(marked), "".join(skeleton), edges)


@dataclass(slots=True)
class _Set:
    """A set in brackets that is being read."""

    is_negated: bool
    ranges: list[str] = field(default_factory=list[str])
    named: list[Named] = field(default_factory=list[Named])

    def said(self) -> str:
        if self.is_negated:
            return f"[^{''.join(self.ranges)}{''.join(one.inside for one in self.named)}{NO_TEXT}]"
        plain = "".join(self.ranges) + "".join(one.inside for one in self.named if one.is_text)
        others = [f"[^{one.outside}{NO_TEXT}]" for one in self.named if not one.is_text]
        each = ([f"[{plain}]"] if plain else []) + others
        return f"(?:{'|'.join(each)})" if len(each) > 1 else "".join(each) or NEVER


class _Reader:
    """Takes a pattern apart, from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        # Whether `.` is also a line's end: of the group that is being read, before it of those around it.
        self._dot_all = [False]

    def tokens(self) -> Iterator[_Token]:
        while self._at < len(self._pattern):
            match self._pattern[self._at]:
                case "\\":
                    yield from self._escape()
                case "[":
                    yield self._set()
                case "(":
                    yield self._group()
                case ")":
                    self._dot_all.pop()
                    yield _Token("frame", self._taken(1))
                case ".":
                    self._taken(1)
                    yield _Token("character", f"[^{NO_TEXT}]" if self._dot_all[-1] else f"[^\\n{NO_TEXT}]")
                case "^":
                    yield _Token("begin", self._taken(1))
                case "$":
                    yield _Token("end", self._taken(1))
                case "|" | "*" | "+" | "?":
                    yield _Token("frame", self._taken(1))
                case "{" if found := _REPETITION.match(self._pattern, self._at):
                    yield _Token("frame", self._taken(len(found[0])))
                case character:
                    self._taken(1)
                    yield _character(ord(character))

    def _escape(self) -> Iterator[_Token]:
        letter = self._pattern[self._at + 1]
        if letter == "Q":
            end = self._pattern.find("\\E", self._at)
            quoted = self._pattern[self._at + 2 : end if end >= 0 else None]
            self._taken(len(quoted) + 4)
            yield from (_character(ord(character)) for character in quoted)
        elif letter in _EDGES:
            yield _Token("edge", self._taken(2), _EDGES[letter])
        elif letter == "A":
            yield _Token("begin", self._taken(2))
        elif letter == "z":
            yield _Token("end", self._taken(2))
        elif (named := self._named()) is not None:
            yield _Token("character", _Set(is_negated=False, named=[named]).said())
        else:
            yield _character(self._code())

    def _group(self) -> _Token:
        begin = self._at
        dot_all = self._dot_all[-1]
        if not self._pattern.startswith("(?", begin):
            self._dot_all.append(dot_all)
            return _Token("frame", self._taken(1))
        if self._pattern.startswith(("(?P<", "(?<"), begin):
            self._dot_all.append(dot_all)
            return _Token("frame", self._taken(self._pattern.index(">", begin) + 1 - begin))
        end = next(at for at in range(begin, len(self._pattern)) if self._pattern[at] in ":)")
        given, _, taken = self._pattern[begin + 2 : end].partition("-")
        dot_all = (dot_all or "s" in given) and "s" not in taken
        if self._pattern[end] == ":":
            self._dot_all.append(dot_all)
        else:
            self._dot_all[-1] = dot_all
        return _Token("frame", self._taken(end + 1 - begin))

    def _set(self) -> _Token:
        self._taken(1)
        found = _Set(self._pattern[self._at] == "^")
        self._taken(found.is_negated)
        is_first = True
        while is_first or self._pattern[self._at] != "]":
            is_first = False
            if (named := self._named_in_set()) is not None:
                found.named.append(named)
                continue
            first = last = self._code()
            if self._pattern[self._at] == "-" and self._pattern[self._at + 1] != "]":
                self._taken(1)
                last = self._code()
            found.ranges.append(written(first, last))
        self._taken(1)
        return _Token("character", found.said())

    def _named_in_set(self) -> Named | None:
        if self._pattern.startswith("[:", self._at):
            end = self._pattern.find(":]", self._at + 2)
            if end >= 0:
                name = self._taken(end + 2 - self._at)[2:-2]
                named = Named(f"[:{name.removeprefix('^')}:]", f"[:^{name.removeprefix('^')}:]")
                return named.opposite if name.startswith("^") else named
        return self._named() if self._pattern[self._at] == "\\" else None

    def _named(self) -> Named | None:
        """Read a set that an escape names, if that is what stands here."""
        letter = self._pattern[self._at + 1]
        if letter in BY_LETTER:
            self._taken(2)
            return BY_LETTER[letter]
        if letter not in "pP":
            return None
        begin = self._at + 2
        length = self._pattern.index("}", begin) + 1 - begin if self._pattern[begin] == "{" else 1
        name = self._taken(2 + length)[2:].strip("{}")
        named = Named(f"\\p{{{name.removeprefix('^')}}}", f"\\P{{{name.removeprefix('^')}}}")
        return named.opposite if (letter == "P") != name.startswith("^") else named

    def _code(self) -> int:
        """Read one character, whichever way it is written, and return its number."""
        character = self._taken(1)
        if character != "\\":
            return ord(character)
        letter = self._taken(1)
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter == "x":
            if self._pattern[self._at] == "{":
                return int(self._taken(self._pattern.index("}", self._at) + 1 - self._at).strip("{}"), 16)
            return int(self._taken(2), 16)
        if letter in "01234567":
            digits = letter
            while len(digits) < 3 and self._pattern[self._at : self._at + 1] in tuple("01234567"):
                digits += self._taken(1)
            return int(digits, 8)
        return ord(letter)

    def _taken(self, length: int) -> str:
        self._at += length
        return self._pattern[self._at - length : self._at]


def _character(code: int) -> _Token:
    said = written(code, code)
    return _Token("character", said or NEVER)
