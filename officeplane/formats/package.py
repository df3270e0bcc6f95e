"""Packages: an Office file as named parts, read without loss and written the same way every time.

A part that nobody changed is written as it lay, its compressed bytes untouched.
A changed part is cut where its own content says so and each cut is deflated by
itself, so that an edit in a long text compresses, hashes and stores anew only the
stretch it is in, and equal parts always give equal bytes.
"""

import re
import struct
import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from officeplane.domain.revision import PieceKey, Recipe, RecipeWriter
from officeplane.formats.archive import DEFLATED, STORED, entries
from officeplane.formats.strict import LINKS_PART, parse_strict, says_strict
from officeplane.formats.xml import Element, parse, serialise

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_END: Final = struct.Struct("<4s4H2LH")
_VERSION: Final = 20
_UTF_8: Final = 1 << 11
_THE_FIRST_DAY: Final = (1 << 5) | 1  # 1 January 1980, the zero of zip's calendar
_LEVEL: Final = 5  # 6 takes half as long again, and much longer for prose, for a twentieth less

_CUT_AFTER: Final = re.compile(rb"</(?:w:p|w:tr|a:p|p:sp|row|si)>")
_CUT_AFTER_MAX: Final = len(b"</w:tr>")
_CUT_MIN: Final = 8 * 1024
_CUT_MAX: Final = 64 * 1024
_CUT_ODDS: Final = 32
_LOOKED_AT: Final = 96
_LAST_BLOCK: Final = b"\x03\x00"  # an empty final block, so that no cut has to know whether it is the last


@dataclass(frozen=True, slots=True)
class _Stored:
    """A part as it lies in the file: its compressed bytes in stretches."""

    method: int
    crc: int
    size: int
    stretches: tuple[bytes, ...]

    @property
    def compressed_size(self) -> int:
        return sum(map(len, self.stretches))

    def content(self) -> bytes:
        data = b"".join(self.stretches)
        return data if self.method == STORED else zlib.decompress(data, -zlib.MAX_WBITS)


@dataclass(frozen=True, slots=True)
class Written:
    """A whole file: how it is put together, and the pieces it is made of."""

    recipe: Recipe
    pieces: dict[PieceKey, bytes]
    size: int

    def content(self) -> bytes:
        """Return the file's bytes."""
        return b"".join(self.recipe.assemble(self.pieces))


class Package:
    """The parts of one file. What the gate has not seen must not come here."""

    def __init__(self, parts: dict[str, _Stored]) -> None:
        self._parts = parts
        self._written = dict(parts)
        self.renewed: list[str] = []
        """The parts that the last `write` found added or changed."""
        self._trees: dict[str, Element] = {}
        self._changed: set[str] = set()
        self._times_changed: Counter[str] = Counter()
        # What each part was cut into last time, by content: most of it is there again.
        self._deflated: dict[str, dict[bytes, bytes]] = {}

    @classmethod
    def read(cls, data: bytes, cuts: Sequence[int] = ()) -> "Package":
        """Return the package that a zip file holds; where it was cut into pieces, it will be cut again."""
        parts: dict[str, _Stored] = {}
        for entry in entries(data):
            begin, end = entry.begin, entry.begin + entry.compressed_size
            places = [begin, *cuts[bisect_right(cuts, begin) : bisect_left(cuts, end)], end]
            stretches = tuple(data[one:other] for one, other in pairwise(places))
            parts[entry.name] = _Stored(entry.method, entry.crc, entry.size, stretches)
        return cls(parts)

    @property
    def names(self) -> list[str]:
        """The names of all parts, in the order of the file."""
        return list(self._parts)

    @cached_property
    def is_strict(self) -> bool:
        """Whether it is strict: its trees are those of an ordinary file, so it can be read and not be written."""
        links = self._parts.get(LINKS_PART)
        return links is not None and says_strict(links.content())

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def content(self, name: str) -> bytes:
        """Return what a part holds; `KeyError` when there is none of that name."""
        if name in self._changed:
            self._store(name, serialise(self._trees[name]))
        return self._parts[name].content()

    def sizes(self, name: str) -> tuple[int, int]:
        """Return the size of a part and that of its compressed bytes, as of the last `put`, `content` or `write`."""
        part = self._parts[name]
        return part.size, part.compressed_size

    def tree(self, name: str) -> Element:
        """Return a part's parsed tree. Who changes it says so with `changed`."""
        found = self._trees.get(name)
        if found is None:
            read = parse_strict if self.is_strict else parse
            found = self._trees[name] = read(self._parts[name].content())
        return found

    def is_parsed(self, name: str) -> bool:
        """Tell whether a part has a tree already."""
        return name in self._trees

    def stored(self, name: str) -> object:
        """Return what is the same as long as the content of a part that is not parsed is."""
        return self._parts[name]

    def plant(self, name: str, root: Element) -> None:
        """Have a part that was not changed be parsed as another tree that says the same."""
        self._trees[name] = root

    def changed(self, name: str) -> None:
        """Note that a part's tree is no longer what was read."""
        self._changed.add(name)
        self._times_changed[name] += 1

    def times_changed(self, name: str) -> int:
        """Return how often a part's tree was changed: what was learned of it is true as long as this is the same."""
        return self._times_changed[name]

    def put(self, name: str, data: bytes, *, as_it_is: bool = False) -> None:
        """Add a part at the end, or replace one; `as_it_is` is what is compressed already, such as a picture."""
        self._trees.pop(name, None)
        if as_it_is:
            self._changed.discard(name)
            self._parts[name] = _Stored(STORED, zlib.crc32(data), len(data), (data,))
        else:
            self._store(name, data)

    def drop(self, name: str) -> None:
        """Remove a part."""
        del self._parts[name]
        self._trees.pop(name, None)
        self._changed.discard(name)
        self._deflated.pop(name, None)

    def rename(self, names: Mapping[str, str]) -> None:
        """Call parts otherwise, all at once; those that are not there are passed over."""
        self._parts = {names.get(name, name): part for name, part in self._parts.items()}
        self._trees = {names.get(name, name): tree for name, tree in self._trees.items()}
        self._changed = {names.get(name, name) for name in self._changed}
        self._deflated = {names.get(name, name): cuts for name, cuts in self._deflated.items()}

    def rollback(self) -> None:
        """Return to what was read or last written."""
        self._parts = dict(self._written)
        # A failed edit may have touched any tree without saying so.
        self._trees.clear()
        self._changed.clear()

    def write(self) -> Written:
        """Return the file as it is now; later rollbacks return to this."""
        for name in sorted(self._changed):
            self._store(name, serialise(self._trees[name]))
        self.renewed = [name for name, part in self._parts.items() if self._written.get(name) is not part]
        self._written = dict(self._parts)
        writer = RecipeWriter()
        directory: list[bytes] = []
        for name, part in self._parts.items():
            directory.append(_entry(name, part, writer.size))
            writer.add(_header(name, part))
            for stretch in part.stretches:
                writer.add(stretch)
        begin = writer.size
        central = b"".join(directory)
        writer.add(central)
        writer.add(_END.pack(b"PK\5\6", 0, 0, len(directory), len(directory), len(central), begin, 0))
        return Written(writer.finish(), writer.pieces, writer.size)

    def _store(self, name: str, data: bytes) -> None:
        self._changed.discard(name)
        before = self._deflated.get(name, {})
        now: dict[bytes, bytes] = {}
        cuts = list(_cuts(data))
        for cut in cuts:
            now[cut] = before.get(cut) or now.get(cut) or _deflate(cut)
        self._deflated[name] = now
        stretches = tuple(now[cut] for cut in cuts)
        self._parts[name] = _Stored(DEFLATED, zlib.crc32(data), len(data), (*stretches, _LAST_BLOCK))


def part_cuts(data: bytes) -> list[int]:
    """Return where in a file the compressed bytes of its parts begin and end."""
    places: set[int] = set()
    for entry in entries(data):
        places |= {entry.begin, entry.begin + entry.compressed_size}
    return sorted(places - {0, len(data)})


def _cuts(data: bytes) -> Iterator[bytes]:
    """Yield the stretches of a part; where one ends depends on the text just before, not on its place."""
    begin = 0
    while (end := _cut_end(data, begin)) is not None:
        yield data[begin:end]
        begin = end
    if begin < len(data) or not data:
        yield data[begin:]


def _cut_end(data: bytes, begin: int) -> int | None:
    # What is too near need not be looked at.
    for match in _CUT_AFTER.finditer(data, begin + _CUT_MIN - _CUT_AFTER_MAX):
        end = match.end()
        length = end - begin
        if length < _CUT_MIN:
            continue
        if length >= _CUT_MAX or zlib.crc32(data[end - _LOOKED_AT : end]) % _CUT_ODDS == 0:
            return end
    return None


def _deflate(data: bytes) -> bytes:
    deflater = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflater.compress(data) + deflater.flush(zlib.Z_FULL_FLUSH)


def _header(name: str, part: _Stored) -> bytes:
    raw = name.encode()
    return (
        _LOCAL.pack(
            b"PK\3\4", _VERSION, _flags(name), part.method, 0, _THE_FIRST_DAY, part.crc, part.compressed_size,
            part.size, len(raw), 0,
        )
        + raw
    )  # fmt: skip


def _entry(name: str, part: _Stored, offset: int) -> bytes:
    raw = name.encode()
    return (
        _CENTRAL.pack(
            b"PK\1\2", _VERSION, _VERSION, _flags(name), part.method, 0, _THE_FIRST_DAY, part.crc,
            part.compressed_size, part.size, len(raw), 0, 0, 0, 0, 0, offset,
        )
        + raw
    )  # fmt: skip


def _flags(name: str) -> int:
    return 0 if name.isascii() else _UTF_8
