"""Archives: the zip file as it lies, where every reader must see the same entries.

Zip can be read front to back or from the directory at its end, and files have been
made that mean two things. Here the two must agree: entries lie one after the other
from the first byte, the directory follows the last, its end is the end of the file,
and what stands before an entry says what the directory says of it.
"""

import struct
from typing import Final, NamedTuple

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.entry_names import check_names, decoded

STORED: Final = 0
DEFLATED: Final = 8
ENTRIES_MAX: Final = 5_000

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_END: Final = struct.Struct("<4s4H2LH")
_DESCRIPTOR: Final = struct.Struct("<3L")
_LONG_DESCRIPTOR: Final = struct.Struct("<L2Q")
_FIELD: Final = struct.Struct("<2H")
_LONG: Final = struct.Struct("<Q")

_SIGNATURE: Final = b"PK\3\4"
_DESCRIBED_AFTER: Final = 1 << 3
_UTF_8: Final = 1 << 11
_HARMLESS_FLAGS: Final = _DESCRIBED_AFTER | _UTF_8 | 0b110  # the last two say how hard was compressed
_ENCRYPTING_FLAGS: Final = 1 | 1 << 6 | 1 << 13
_ELSEWHERE: Final = 0xFFFF_FFFF
_ZIP64_FIELD: Final = 0x0001
_NAME_FIELD: Final = 0x7075
_ENCRYPTION_FIELDS: Final = frozenset({0x0017, 0x9901})
_FOLDER_MODE: Final = 0o4
_PLAIN_MODES: Final = frozenset({0, 0o10, _FOLDER_MODE})


class Entry(NamedTuple):
    """One file in the archive; its compressed bytes are `data[begin : begin + compressed_size]`."""

    name: str
    method: int
    crc: int
    compressed_size: int
    size: int
    begin: int


def entries(data: bytes) -> list[Entry]:
    """Return the files of an archive in the order of its directory; whatever is not in order is refused."""
    count, begin = _end(data)
    found: list[tuple[int, int, Entry]] = []
    at = begin
    for _ in range(count):
        at, offset, body, entry = _entry(data, at, begin)
        found.append((offset, body, entry))
    if at != len(data) - _END.size:
        raise _unsafe("there is something between its directory and its end")
    _check_order(found, begin)
    files = [entry for _, _, entry in found if not entry.name.endswith("/")]
    check_names([entry.name for _, _, entry in found])
    return files


def _end(data: bytes) -> tuple[int, int]:
    if not data.startswith(_SIGNATURE):
        raise UnsupportedDocumentError("not_a_package", "the file is no Office file: it is no zip archive")
    at = len(data) - _END.size
    if at < 0 or data[at : at + 4] != b"PK\5\6":
        if data.rfind(b"PK\5\6") >= 0:
            # Who reads from the back may find another archive there.
            raise _unsafe("something follows its end; a program that saves it anew leaves that out")
        raise _damaged("its end is missing")
    _, disk, first_disk, here, count, size, begin, comment = _END.unpack_from(data, at)
    if disk or first_disk or here != count or comment:
        raise _unsafe("its end contradicts itself")
    if count > ENTRIES_MAX:
        raise UnsupportedDocumentError("zip_bomb", f"the file has {count} parts; {ENTRIES_MAX} are allowed")
    if begin + size != at:
        raise _unsafe("its directory is not where its end says")
    return count, begin


def _entry(data: bytes, at: int, limit: int) -> tuple[int, int, int, Entry]:
    """Return where the next entry of the directory is, where this one's file begins and ends, and what it says."""
    try:
        (
            signature, _, _, flags, method, _, _, crc, compressed, size,
            name_length, extra_length, comment_length, disk, _, attributes, offset,
        ) = _CENTRAL.unpack_from(data, at)  # fmt: skip
    except struct.error:
        raise _damaged("its directory is cut off") from None
    if signature != b"PK\1\2" or comment_length or disk:
        raise _unsafe("its directory has an entry that is none")
    at += _CENTRAL.size
    raw_name = data[at : at + name_length]
    extra = _fields(data[at + name_length : at + name_length + extra_length])
    at += name_length + extra_length
    if flags & _ENCRYPTING_FLAGS or extra.keys() & _ENCRYPTION_FIELDS:
        raise UnsupportedDocumentError("encrypted", "the file is encrypted; save it without a password")
    if flags & ~_HARMLESS_FLAGS:
        raise _unsafe("it uses features of zip that Office files do not have")
    if method not in {STORED, DEFLATED}:
        raise _unsafe("it is compressed in a way that Office files are not")
    name = _name(raw_name, flags, attributes)
    size, compressed, offset = _long(extra, size, compressed, offset)
    if name.endswith("/") and size:
        raise _unsafe("one of its folders has content", name)
    if method == STORED and size != compressed:
        raise _unsafe("one of its parts is stored in another size than it has", name)
    begin = _begin(data, offset, flags, raw_name, (method, crc, compressed, size))
    end = begin + compressed
    if flags & _DESCRIBED_AFTER:
        end = _skip_descriptor(data, end, (crc, compressed, size))
    if end > limit:
        raise _unsafe("one of its parts overlaps the directory", name)
    return at, offset, end, Entry(name, method, crc, compressed, size, begin)


def _begin(data: bytes, offset: int, flags: int, name: bytes, said: tuple[int, int, int, int]) -> int:
    """Return where a file's bytes begin, having compared what stands before them with the directory."""
    try:
        signature, _, local_flags, method, _, _, *sizes, name_length, extra_length = _LOCAL.unpack_from(data, offset)
    except struct.error:
        raise _unsafe("its directory points beyond its end") from None
    if signature != _SIGNATURE:
        raise _unsafe("its directory points where nothing is")
    at = offset + _LOCAL.size
    extra = _fields(data[at + name_length : at + name_length + extra_length])
    if extra.keys() & _ENCRYPTION_FIELDS:
        raise UnsupportedDocumentError("encrypted", "the file is encrypted; save it without a password")
    crc, compressed, size = sizes
    size, compressed, _ = _long(extra, size, compressed, 0)
    is_later = bool(flags & _DESCRIBED_AFTER)
    agrees = (
        method == said[0]
        and not (local_flags ^ flags) & ~0b110
        and data[at : at + name_length] == name
        and all(
            here == there or (is_later and here in {0, _ELSEWHERE})
            for here, there in zip((crc, compressed, size), said[1:], strict=True)
        )
    )
    if not agrees:
        raise _unsafe("its directory and its parts contradict each other", name.decode("utf-8", "replace"))
    return at + int(name_length) + int(extra_length)


def _skip_descriptor(data: bytes, at: int, said: tuple[int, int, int]) -> int:
    for signature in (b"PK\7\x08", b""):
        for form in (_DESCRIPTOR, _LONG_DESCRIPTOR):
            begin = at + len(signature)
            wanted = signature + form.pack(*said)
            # A short form is also the beginning of nothing else: what follows must be a header.
            if data[at : at + len(wanted)] == wanted and data[begin + form.size : begin + form.size + 2] == b"PK":
                return begin + form.size
    raise _unsafe("what follows one of its parts contradicts the directory")


def _fields(extra: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at + _FIELD.size <= len(extra):
        kind, length = _FIELD.unpack_from(extra, at)
        at += _FIELD.size
        if kind == _NAME_FIELD:
            raise _unsafe("an extra field gives one of its parts another name")
        if kind in found or at + length > len(extra):
            raise _unsafe("it has extra fields that contradict each other")
        found[kind] = extra[at : at + length]
        at += length
    return found


def _long(extra: dict[int, bytes], size: int, compressed: int, offset: int) -> tuple[int, int, int]:
    """Return the sizes and the offset, each from the zip64 field if that is where it stands."""
    field = extra.get(_ZIP64_FIELD, b"")
    values: list[int] = []
    at = 0
    for value in (size, compressed, offset):
        if value == _ELSEWHERE and at + _LONG.size <= len(field):
            (long,) = _LONG.unpack_from(field, at)
            at += _LONG.size
            values.append(long)
        else:
            values.append(value)
    return values[0], values[1], values[2]


def _name(raw: bytes, flags: int, attributes: int) -> str:
    name = decoded(raw, is_utf_8=bool(flags & _UTF_8))
    kind = attributes >> 28
    if kind not in _PLAIN_MODES or (kind == _FOLDER_MODE) > name.endswith("/"):
        raise _unsafe("it holds a link or a device", name)
    return name


def _check_order(found: list[tuple[int, int, Entry]], limit: int) -> None:
    """Refuse entries that overlap or leave room between them for what the directory does not know."""
    at = 0
    for offset, end, entry in sorted(found):
        if offset != at:
            raise _unsafe("its parts overlap" if offset < at else "there is something between its parts", entry.name)
        at = end
    if at != limit:
        raise _unsafe("there is something before its directory")


def _unsafe(why: str, name: str | None = None) -> UnsupportedDocumentError:
    where = "" if name is None else f" ({name!r})"
    return UnsupportedDocumentError("unsafe_package", f"the file is no sound zip archive: {why}{where}")


def _damaged(why: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("damaged", f"the file is damaged: {why}")
