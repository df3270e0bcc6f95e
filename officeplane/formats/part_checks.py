"""Checks of one part: that it is what its entry says, and that its XML is plain XML.

The parser is the one that reads parts later, so that both see the same text, but
here it builds nothing: what is checked costs no memory.
"""

import html
import re
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from lxml import etree

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.archive import STORED, Entry

if TYPE_CHECKING:
    from lxml.etree import ParserTarget

Content: TypeAlias = bytes | bytearray
"""What a part holds."""

PART_BYTES_MAX: Final = 100 * 1000 * 1000
RATIO_MAX: Final = 200
RATIO_FREE_BYTES: Final = 1000 * 1000
"""Below this size a part may be compressed as well as it can be."""

TREE_BYTES_MAX: Final = 400 * 1000 * 1000
"""What the trees of a file's parts may take in memory, all together."""

_AT_ONCE: Final = 1 << 20
_ELEMENT_BYTES: Final = 120
_ATTRIBUTE_BYTES: Final = 216  # the attribute and the node of its text
_TREE_BYTES_PER_BYTE: Final = 61  # of `<a/>` after `<a/>`
_NOT_COUNTED_BYTES: Final = 500 * 1000

_UTF_8_MARK: Final = b"\xef\xbb\xbf"
_UTF_16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF_32_MARKS: Final = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_ENCODING: Final = re.compile(r"\bencoding\s*=\s*[\"']([^\"']*)[\"']")
_NOT_TEXT: Final = re.compile(rb"<!--.*?-->|<!\[CDATA\[(.*?)\]\]>|<\?.*?\?>", re.DOTALL)
_NAME: Final = rb"<(?:[^\s<>/:\"'=]+:)?"
_REST: Final = rb"((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>"
_FIELD_CODE: Final = re.compile(
    rb"\bfldCharType\s*=\s*[\"'](begin)|" + _NAME + rb"(?:instrText|delInstrText)\b" + _REST + rb"([^<]*)<"
)
_SIMPLE_FIELD: Final = re.compile(_NAME + rb"fldSimple\b" + _REST)
_CODE: Final = re.compile(rb"\binstr\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_DDE: Final = re.compile(r"[\s\\]*DDE(?:AUTO)?\b", re.IGNORECASE)
_DRAWN: Final = re.compile(_NAME + rb"(?:imagedata|fill|stroke|image)\b" + _REST)
_SOURCE: Final = re.compile(rb"\bsrc\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ELSEWHERE: Final = re.compile(r"\s*(?:[\w.+-]+:|//|\\\\)")


def inflate(data: bytes, entry: Entry) -> Content:
    """Return what an entry holds; never more than it says, whatever it says."""
    # Written into one place: the library's own way of growing takes twice the memory.
    content = bytearray(entry.size)
    at = 0
    for piece in _pieces(data, entry):
        content[at : at + len(piece)] = piece
        at += len(piece)
    return content


def skim(data: bytes, entry: Entry) -> None:
    """Check that an entry is whole and keep nothing of it: for pictures and what else is never looked into."""
    for _ in _pieces(data, entry):
        pass


def _pieces(data: bytes, entry: Entry) -> Iterator[bytes]:
    """Yield what an entry holds, a little at a time; one that is not what it says is refused on the way."""
    crc = 0
    size = 0
    for content in _stored(data, entry) if entry.method == STORED else _inflated(data, entry):
        size += len(content)
        crc = zlib.crc32(content, crc)
        if size > entry.size:
            raise UnsupportedDocumentError("zip_bomb", f"the part {entry.name!r} has more bytes than the file says")
        yield content
    if size != entry.size or crc != entry.crc:
        raise _damaged(entry.name)


def _stored(data: bytes, entry: Entry) -> Iterator[bytes]:
    end = entry.begin + entry.compressed_size
    for at in range(entry.begin, end, _AT_ONCE):
        yield data[at : min(at + _AT_ONCE, end)]


def _inflated(data: bytes, entry: Entry) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in _stored(data, entry):
        rest = piece
        while True:
            if inflater.eof:
                raise _damaged(entry.name)
            try:
                content = inflater.decompress(rest, _AT_ONCE)
            except zlib.error:
                raise _damaged(entry.name) from None
            yield content
            rest = inflater.unconsumed_tail
            # A full measure may not have been all, even when nothing is left to read.
            if inflater.eof or (not rest and len(content) < _AT_ONCE):
                break
    if not inflater.eof or inflater.unused_data:
        raise _damaged(entry.name)


def peek(data: bytes, entry: Entry, length: int) -> bytes:
    """Return the first bytes of what an entry holds."""
    body = data[entry.begin : entry.begin + min(entry.compressed_size, 1024)]
    if entry.method == STORED:
        return body[:length]
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(body, length)
    except zlib.error:
        raise _damaged(entry.name) from None


def check_size(name: str, size: int, compressed_size: int) -> None:
    """Refuse a part that is too large, or that so few bytes cannot honestly become."""
    if size > PART_BYTES_MAX:
        raise UnsupportedDocumentError("zip_bomb", f"the part {name!r} has {size} bytes; {PART_BYTES_MAX} are allowed")
    if size > RATIO_FREE_BYTES and size > RATIO_MAX * compressed_size:
        raise UnsupportedDocumentError(
            "zip_bomb", f"the part {name!r} is compressed better than {RATIO_MAX} to 1, as only bombs are"
        )


def tree_bytes(xml: Content) -> int:
    """Return about how much memory the tree of a part takes; never too little."""
    if len(xml) < _NOT_COUNTED_BYTES:
        return len(xml) * _TREE_BYTES_PER_BYTE
    # Each element begins at most one text inside and one after it; each attribute has its sign.
    opened = xml.count(b"<")
    closed = xml.count(b"</")
    return len(xml) + _ELEMENT_BYTES * (2 * opened - closed) + _ATTRIBUTE_BYTES * xml.count(b"=")


def check_xml(name: str, xml: Content) -> None:
    """Refuse XML that has a DTD, is not well-formed or is nested too deeply."""
    _check_encoding(name, xml)
    # A target need not have the methods that it has no use for, whatever the stubs say.
    target = cast("ParserTarget[None]", _Nothing())
    parser = etree.XMLParser(target=target, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        etree.fromstring(xml, parser)
    except _HasDoctypeError:
        raise UnsupportedDocumentError("dtd", f"the part {name!r} has a DTD, which Office files have not") from None
    except etree.XMLSyntaxError as error:
        raise _no_xml(name, str(error)) from None
    except (ValueError, LookupError) as error:
        raise _no_xml(name, str(error)) from None
    for entry in parser.error_log.filter_from_errors():
        raise _no_xml(name, entry.message)


def check_content(name: str, xml: Content) -> None:
    """Refuse XML that has other programs or addresses asked for what is to be shown."""
    if xml[:2] in _UTF_16_MARKS:
        xml = xml.decode("utf-16").encode()
    # `instrText`, `delInstrText` and the `instr` of `fldSimple` have these letters in common.
    has_fields = b"nstr" in xml
    has_drawings = b"src" in xml and b"urn:schemas-microsoft-com:vml" in xml
    if not has_fields and not has_drawings:
        return
    if b"<!" in xml:
        xml = _NOT_TEXT.sub(lambda match: html.escape((match[1] or b"").decode("utf-8", "replace")).encode(), xml)
    if has_fields and any(map(_DDE.match, _fields(xml))):
        raise UnsupportedDocumentError(
            "external_reference", f"the part {name!r} has a DDE field, which asks other programs for its content"
        )
    if has_drawings and any(map(_ELSEWHERE.match, _values(_DRAWN, _SOURCE, xml))):
        raise UnsupportedDocumentError("external_reference", f"the part {name!r} shows a picture from another place")


def _fields(xml: Content) -> Iterator[str]:
    """Yield the code of each field; it may be in many runs, and each `begin` starts another."""
    yield from _values(_SIMPLE_FIELD, _CODE, xml)
    pieces: list[bytes] = []
    for piece in _FIELD_CODE.finditer(xml):
        if piece[1]:
            yield _unescaped(b"".join(pieces))
            pieces = []
        else:
            pieces.append(piece[3])
    yield _unescaped(b"".join(pieces))


def _values(tag: re.Pattern[bytes], attribute: re.Pattern[bytes], xml: Content) -> Iterator[str]:
    for found in tag.finditer(xml):
        for value in attribute.finditer(found[1]):
            yield _unescaped(value[1] or value[2] or b"")


def _unescaped(value: bytes) -> str:
    return html.unescape(value.decode("utf-8", "replace"))


def _check_encoding(name: str, xml: Content) -> None:
    """Let only UTF-8 and UTF-16 in, each where it says so itself: any other can hide what it says."""
    head = xml[:512]
    if head.startswith(_UTF_32_MARKS) or (b"\0" in head[:4] and not head.startswith(_UTF_16_MARKS)):
        raise _encoded(name)
    if head.startswith(_UTF_16_MARKS):
        text, allowed = head.decode("utf-16", "replace"), {"utf-16"}
    else:
        text, allowed = head.removeprefix(_UTF_8_MARK).decode("utf-8", "replace"), {"utf-8", "us-ascii", "ascii"}
    # A declaration that is too long to be seen whole has no honest reason.
    declaration, closed, _ = text.partition("?>") if text.startswith("<?xml") else ("", "?>", "")
    encoding = _ENCODING.search(declaration)
    if not closed or ("encoding" in declaration and (encoding is None or encoding[1].lower() not in allowed)):
        raise _encoded(name)
    if not text.startswith(("<", " ", "\t", "\r", "\n")):
        raise _no_xml(name, "it begins with no tag")


class _HasDoctypeError(Exception):
    """The parser saw a DTD."""


class _Nothing:
    """What the parser builds: nothing."""

    def doctype(self, *_: object) -> None:
        raise _HasDoctypeError

    def close(self) -> None:
        return None


def _damaged(name: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("damaged", f"the file is damaged: its part {name!r} cannot be read")


def _no_xml(name: str, why: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("malformed_xml", f"the part {name!r} is no well-formed XML: {why[:200]}")


def _encoded(name: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("encoding", f"the part {name!r} is neither UTF-8 nor UTF-16")
