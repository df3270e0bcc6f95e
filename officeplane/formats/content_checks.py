"""Checks of what a part says: that nothing in it has other programs or addresses asked when it is shown.

Relationships are the usual way out of a file and have their own checks; these are
the two that stand in the text itself. They read XML that is known to be well-formed.
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
_FIELD_CODE: Final = re.compile(
    rb"\bfldCharType\s*=\s*[\"'](begin)|" + _NAME + rb"(?:instrText|delInstrText)\b" + _REST + rb"([^<]*)<"
)
_SIMPLE_FIELD: Final = re.compile(_NAME + rb"fldSimple\b" + _REST)
_CODE: Final = re.compile(rb"\binstr\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_DDE: Final = re.compile(r"[\s\\]*DDE(?:AUTO)?\b", re.IGNORECASE)
_DRAWN: Final = re.compile(_NAME + rb"(?:imagedata|fill|stroke|image)\b" + _REST)
_SOURCE: Final = re.compile(rb"\bsrc\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ELSEWHERE: Final = re.compile(r"\s*(?:[\w.+-]+:|//|\\\\)")


def check_content(name: str, xml: Content) -> None:
    """Refuse XML that has other programs or addresses asked for what is to be shown."""
    if xml[:2] in UTF_16_MARKS:
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
