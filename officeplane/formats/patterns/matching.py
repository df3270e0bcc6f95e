"""Matching: all places at which a pattern fits into a text, from left to right without overlap.

The engine looks at bytes, and for words and their edges only at ASCII; here it is
brought back to characters and words of any language.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.formats.patterns.characters import BETWEEN, BOUNDARY, INSIDE, WORD, is_of_words
from officeplane.formats.patterns.engine import Found, Machine, compiled, machine_of
from officeplane.formats.patterns.translation import translated

STEPS_MAX: Final = 2_000_000_000
"""Bytes that may have to be passed in all.

One search is linear, but each match begins another one, which may pass all that is left of its text before it knows
where its match ends.
"""
_EDGES_MAX: Final = 8
_BEFORE: Final = rf"[{BOUNDARY}{INSIDE}]*[^{WORD.inside}{BOUNDARY}{INSIDE}]"
_BEGIN: Final = r"\A|"
_BEHIND: Final = rf"[{BOUNDARY}{INSIDE}]*(?:\z|[^{WORD.inside}{BOUNDARY}{INSIDE}])"
_NO_TEXT: Final = dict.fromkeys((ord(BOUNDARY), ord(INSIDE)), BETWEEN)
_CACHED: Final = 8


class Match(NamedTuple):
    """A place at which something stands; of a pattern with what its groups hold, the whole as the first."""

    begin: int
    end: int
    groups: tuple[str, ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends."""
        return self.begin, self.end


@lru_cache(_CACHED)
def pattern_of(find: str, *, match_case: bool, whole_word: bool) -> "Pattern":
    """Return a pattern, ready to be looked for."""
    return Pattern(find, match_case=match_case, whole_word=whole_word)


class Pattern:
    """What is looked for; a wrong one, or one that fits where nothing stands, is refused."""

    def __init__(self, find: str, *, match_case: bool, whole_word: bool) -> None:
        self._find = find
        self._match_case = match_case
        self._whole_word = whole_word
        as_given = compiled(find, match_case=match_case)
        self.groups = as_given.groups
        self.names = {name.decode(): number for name, number in as_given.groupindex.items()}
        if "\\C" in find.replace("\\\\", ""):
            raise InvalidEditError(f"the pattern {find!r} has \\C, a single byte, which no text is made of; say .")
        self._translated = translated(find)
        if self._translated.edges > _EDGES_MAX:
            raise InvalidEditError(f"the pattern has more than {_EDGES_MAX} times \\b or \\B")
        if machine_of(self._translated.skeleton, match_case=match_case).search(b"", 0) is not None:
            raise InvalidEditError(
                f"the pattern {find!r} fits where nothing stands, and so everywhere; say + where it says *, or what "
                "there has to be"
            )
        self._machines: dict[tuple[bool, bool], Machine] = {}
        self.machine(is_marked=False, may_begin=True)

    def search(self, text: str) -> "Search":
        """Return where it stands in a text, and what that may take."""
        return Search(self, text)

    def prepared(self, text: str) -> tuple[bytes, int]:
        """Return the bytes to look in, and how many marks stand before each character."""
        text = text.translate(_NO_TEXT) if BOUNDARY in text or INSIDE in text else text
        edges = self._translated.edges
        if edges and not text.isascii() and any(is_of_words(each) for each in text if each > "\x7f"):
            return _with_marks(text, edges).encode("utf-8", "surrogatepass"), edges
        return text.encode("utf-8", "surrogatepass"), 0

    def machine(self, *, is_marked: bool, may_begin: bool) -> Machine:
        """Return what to look with; a word may begin where the text does, if that has not been looked at before."""
        known = self._machines.get((is_marked, may_begin))
        if known is None:
            said = self._translated.marked if is_marked else self._translated.plain
            if self._whole_word:
                said = f"(?:{_BEGIN}{_BEFORE})({said}){_BEHIND}" if may_begin else f"{_BEFORE}({said}){_BEHIND}"
            known = self._machines[is_marked, may_begin] = self._compiled(said)
        return known

    @property
    def first(self) -> int:
        """The group of the engine that is the whole."""
        return 1 if self._whole_word else 0

    def _compiled(self, said: str) -> Machine:
        try:
            return machine_of(said, match_case=self._match_case)
        except InvalidEditError:
            # It could be read as it was given.
            raise InvalidEditError(
                f"the pattern {self._find!r} is too large once its sets and repetitions are written out; give smaller "
                "counts, or say less exactly what is repeated"
            ) from None


class Search:
    """One look through a text."""

    def __init__(self, pattern: Pattern, text: str) -> None:
        self._text = text
        self._pattern = pattern
        self.steps = 0
        """Bytes that may have been passed."""

    def __iter__(self) -> Iterator[Match]:
        data, marks = self._pattern.prepared(self._text)
        back = self._pattern.first  # The character before a word is looked at again: it may be the one behind another.
        machine = self._pattern.machine(is_marked=marks > 0, may_begin=True)
        characters = _Characters(data)
        at = 0
        while True:
            self.steps += len(data) - at
            found = machine.search(data, at)
            if found is None:
                return
            match = self._match(found, characters, marks)
            yield match
            at = characters.byte((match.end - back) * (marks + 1))
            if at == 0:
                machine = self._pattern.machine(is_marked=marks > 0, may_begin=False)

    def _match(self, found: Found, characters: "_Characters", marks: int) -> Match:
        first = self._pattern.first
        spans = [found.span(group) for group in range(first, first + self._pattern.groups + 1)]
        places = characters.places({place for span in spans for place in span if place >= 0})
        each = [(places[begin] // (marks + 1), places[end] // (marks + 1)) for begin, end in spans if begin >= 0]
        told = iter(each)
        groups = tuple(self._text[slice(*next(told))] if begin >= 0 else "" for begin, _ in spans)
        return Match(*each[0], groups)


class _Characters:
    """Which character begins at which byte, of places that are asked for in order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._is_ascii = data.isascii()
        self._byte = self._character = 0

    def places(self, at: set[int]) -> dict[int, int]:
        """Return the numbers of the characters that begin at bytes behind those that were asked for before."""
        if self._is_ascii:
            return {place: place for place in at}
        found: dict[int, int] = {}
        for place in sorted(at):
            self._character += _length(self._data[self._byte : place])
            self._byte = place
            found[place] = self._character
        return found

    def byte(self, character: int) -> int:
        """Return where a character begins that is not far before the last one that was told; be there."""
        if self._is_ascii:
            return character
        while self._character > character:
            self._byte -= 1
            self._character -= self._data[self._byte] & 0xC0 != 0x80
        return self._byte


def _length(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))


def _with_marks(text: str, times: int) -> str:
    boundary, inside = BOUNDARY * times, INSIDE * times
    made: list[str] = []
    before = False
    for character in text:
        within = is_of_words(character)
        made += (boundary if within != before else inside, character)
        before = within
    made.append(boundary if before else inside)
    return "".join(made)
