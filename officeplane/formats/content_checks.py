"""Checks of what a part says: that nothing in it has other programs or addresses asked when it is shown.

Relationships are the usual way out of a file and have their own checks; these are
the ways that stand in the text itself. They read XML that is known to be well-formed.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.inflation import Content
from officeplane.formats.xml_checks import UTF_16_MARKS

_NOT_TEXT: Final = re.compile(rb"<!--.*?-->|<!\[CDATA\[(.*?)\]\]>|<\?.*?\?>", re.DOTALL)
_NAME: Final = rb"<(?:[^\s<>/:\"'=]+:)?"
_REST: Final = rb"((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>"
_FIELD_CODE: Final = re.compile(_NAME + rb"(?:(fldChar)|instrText|delInstrText)\b" + _REST + rb"([^<]*)")
_FIELD_PLACE: Final = re.compile(rb"\bfldCharType\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_SIMPLE_FIELD: Final = re.compile(_NAME + rb"fldSimple\b" + _REST)
_CODE: Final = re.compile(rb"\binstr\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_DDE: Final = re.compile(r"[\s\\]*DDE(?:AUTO)?\b", re.IGNORECASE)
_DRAWN: Final = re.compile(_NAME + rb"(?:imagedata|fill|stroke|image|feImage|use)\b" + _REST)
_SOURCE: Final = re.compile(rb"\bsrc\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_SOURCE_IN_SVG: Final = re.compile(rb"\b(?:src|href)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ELSEWHERE: Final = re.compile(r"\s*(?!data:)(?:[\w.+-]+:|//|\\\\)", re.IGNORECASE)
_SCRIPT: Final = re.compile(_NAME + rb"script\b")
_AT_ONCE: Final = re.compile(rb"\brefreshOnLoad\s*=\s*[\"']\s*(?:1|t|&)")


def as_utf_8(xml: Content) -> Content:
    """Return the text of a part, which may be in UTF-16, as UTF-8."""
    return xml.decode("utf-16", "replace").encode() if xml[:2] in UTF_16_MARKS else xml


def check_content(name: str, xml: Content, kind: str) -> None:
    """Refuse XML, in UTF-8, that has other programs or addresses asked for what is to be shown."""
    # `instrText`, `delInstrText` and the `instr` of `fldSimple` have these letters in common.
    has_fields = b"nstr" in xml
    has_drawings = b"src" in xml and b"urn:schemas-microsoft-com:vml" in xml
    is_svg = kind.startswith("image/svg") or name.lower().endswith(".svg")
    is_connections = kind.endswith("connections+xml")
    if not (has_fields or has_drawings or is_svg or is_connections):
        return
    if b"<!" in xml:
        xml = _NOT_TEXT.sub(lambda match: html.escape((match[1] or b"").decode("utf-8", "replace")).encode(), xml)
    if has_fields and any(map(_DDE.match, _fields(xml))):
        raise _refused(name, "has a DDE field, which asks other programs for its content")
    sources = _SOURCE_IN_SVG if is_svg else _SOURCE
    if (has_drawings or is_svg) and any(map(_ELSEWHERE.match, _values(_DRAWN, sources, xml))):
        raise _refused(name, "shows a picture from another place")
    if is_svg and _SCRIPT.search(xml):
        raise _refused(name, "is a picture with a program in it")
    if is_connections and _AT_ONCE.search(xml):
        raise _refused(name, "loads data from elsewhere as soon as it is opened")


def _fields(xml: Content) -> Iterator[str]:
    """Yield the code of each field, which may be in many runs with other fields between, and each stretch of it."""
    yield from _values(_SIMPLE_FIELD, _CODE, xml)
    stretch: list[bytes] = []
    within: list[list[bytes]] = [[]]
    for piece in _FIELD_CODE.finditer(xml):
        if piece[1] is None:
            stretch.append(piece[3])
            within[-1].append(piece[3])
            continue
        yield _unescaped(b"".join(stretch))
        stretch = []
        places = {_unescaped(place[1] or place[2] or b"") for place in _FIELD_PLACE.finditer(piece[2])}
        if places == {"end"} and len(within) > 1:
            yield _unescaped(b"".join(within.pop()))
        elif places not in ({"separate"}, {"end"}):
            within.append([])
    for pieces in (stretch, *within):
        yield _unescaped(b"".join(pieces))


def _values(tag: re.Pattern[bytes], attribute: re.Pattern[bytes], xml: Content) -> Iterator[str]:
    for found in tag.finditer(xml):
        for value in attribute.finditer(found[1]):
            yield _unescaped(value[1] or value[2] or b"")


def _unescaped(value: bytes) -> str:
    return html.unescape(value.decode("utf-8", "replace"))


def _refused(name: str, why: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("external_reference", f"the part {name!r} {why}")
