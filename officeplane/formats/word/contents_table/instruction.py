"""Instructions of tables of contents: which headings a field lists, and how."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_WORDS: Final = re.compile(r'\\([a-z*@#])|"([^"]*)"|(\S+)', re.IGNORECASE)
_RANGE: Final = re.compile(r"([1-9])\s*-\s*([1-9])")
MARKED_ENTRIES: Final = "marked entries"
_NOT_OF_HEADINGS: Final = {
    "a": "captions", "c": "captions", "b": "a bookmark", "d": "numbers of sequences", "s": "numbers of sequences",
    "f": MARKED_ENTRIES, "l": MARKED_ENTRIES,
}  # fmt: skip
_ALL: Final = (1, 9)


@dataclass(frozen=True, slots=True)
class Instruction:
    """What a field says of the table of contents that it is."""

    levels: tuple[int, int] | None
    """The first and the last level of headings, by their styles."""
    styles: Mapping[str, int]
    """Levels of other styles, by their names in small letters."""
    outlined: bool
    """Whether paragraphs with an outline level of their own are listed."""
    linked: bool
    unnumbered: tuple[int, int] | None
    """The levels without page numbers."""
    separator: str | None
    """What stands between an entry and its page number, if that is not a tab."""
    beyond: str
    """What it lists that is not headings; empty if nothing."""

    @property
    def reach(self) -> tuple[int, int]:
        """The levels of headings and outlines that it lists."""
        return self.levels or _ALL


def read_instruction(text: str) -> Instruction | None:
    """Return what an instruction says, or None when it is that of another field."""
    words = [(switch.lower(), quoted or bare) for switch, quoted, bare in _WORDS.findall(text)]
    if not words or words[0][1].upper() != "TOC":
        return None
    said: dict[str, str] = {}
    last = ""
    for switch, argument in words[1:]:
        if switch:
            last = switch
            said.setdefault(switch, "")
        elif last and not said[last]:
            said[last] = argument
    lists_any = {"o", "t", "u"} & said.keys()
    return Instruction(
        levels=_range(said["o"]) if "o" in said else None if lists_any else _ALL,
        styles=_styles(said.get("t", "")),
        outlined="u" in said,
        linked="h" in said,
        unnumbered=_range(said["n"]) if "n" in said else None,
        separator=said.get("p") or None,
        beyond=next((what for switch, what in _NOT_OF_HEADINGS.items() if switch in said), ""),
    )


def _range(argument: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(argument.strip())
    return _ALL if found is None else (int(found[1]), int(found[2]))


def _styles(argument: str) -> dict[str, int]:
    """Return styles with their levels; between them stand commas, or what separates lists where it was written."""
    words = [word.strip() for word in re.split("[,;]", argument)]
    pairs = zip(words[::2], words[1::2], strict=False)
    return {name.lower(): int(level) for name, level in pairs if level in set("123456789")}
