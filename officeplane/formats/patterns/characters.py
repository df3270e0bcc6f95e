"""Sets of characters that patterns name, as Unicode has them; those of RE2 know ASCII alone."""

from typing import Final, NamedTuple

BETWEEN: Final = "\0"
"""Stands in a text where a match may not go on, such as between paragraphs."""
BOUNDARY: Final = "\x01"
"""Stands before a character at which a word begins or ends."""
INSIDE: Final = "\x02"
"""Stands before any other one."""
NO_TEXT: Final = r"\x00-\x02"
"""These three, as part of a set: no document can hold them, and nothing that a pattern says may match one."""
NEVER: Final = r"[^\x00-\x{10FFFF}]"

_Ranges = tuple[tuple[int, int], ...]
_SPACES: Final[_Ranges] = (
    (0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
_LAST: Final = 0x10FFFF


class Named(NamedTuple):
    """A set that has a name, as part of a set in brackets."""

    inside: str
    outside: str
    """All other characters."""
    is_text: bool = False
    """Whether it is certain that it has none of `NO_TEXT`."""

    @property
    def opposite(self) -> "Named":
        """What it does not have."""
        return Named(self.outside, self.inside)


def written(first: int, last: int) -> str:
    """Return a range as part of a set, without what is no text; empty when nothing is left of it."""
    first = max(first, 3)
    if first > last:
        return ""
    return f"\\x{{{first:X}}}" if first == last else f"\\x{{{first:X}}}-\\x{{{last:X}}}"


def _ranges(ranges: _Ranges) -> str:
    return "".join(written(first, last) for first, last in ranges)


def _between(ranges: _Ranges) -> _Ranges:
    begins = [0, *(last + 1 for _, last in ranges)]
    ends = [*(first - 1 for first, _ in ranges), _LAST]
    return tuple(zip(begins, ends, strict=True))


# What is neither letter nor number nor `_`; sets in brackets cannot be cut with each other, so it is spelled out.
_NO_WORD: Final = (
    r"\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\x{203F}\x{2040}\x{2054}\x{FE33}\x{FE34}\x{FE4D}-\x{FE4F}"
    r"\x{FF3F}"
)
_DIGIT: Final = Named(r"\p{Nd}", r"\P{Nd}", is_text=True)
_SPACE: Final = Named(_ranges(_SPACES), _ranges(_between(_SPACES)), is_text=True)
WORD: Final = Named(r"\p{L}\p{N}_", _NO_WORD, is_text=True)

BY_LETTER: Final = {
    "d": _DIGIT, "D": _DIGIT.opposite, "s": _SPACE, "S": _SPACE.opposite, "w": WORD, "W": WORD.opposite,
}  # fmt: skip


def is_of_words(character: str) -> bool:
    """Tell whether words consist of it."""
    return character.isalnum() or character == "_"
