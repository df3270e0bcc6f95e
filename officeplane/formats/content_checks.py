"""Checks of what a part says: that nothing in it has other programs or addresses asked when it is shown.

Relationships are the usual way out of a file and have their own checks; these are
the ways that stand in the text itself. They read XML that is known to be well-formed.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.content_text import NAME, REST, values
from officeplane.formats.field_checks import what_fields_ask
from officeplane.formats.formula_checks import what_formulas_ask
from officeplane.formats.inflation import Content
from officeplane.formats.xml_checks import UTF_16_MARKS

_NOT_TEXT: Final = re.compile(rb"<!--.*?-->|<!\[CDATA\[(.*?)\]\]>|<\?.*?\?>", re.DOTALL)
_DRAWN: Final = re.compile(NAME + rb"(?:imagedata|fill|stroke|image|feImage|use)\b" + REST)
_SOURCE: Final = re.compile(rb"\bsrc\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_SOURCE_IN_SVG: Final = re.compile(rb"\b(?:src|href)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ELSEWHERE: Final = re.compile(r"\s*(?!data:)(?:[\w.+-]+:|//|\\\\)", re.IGNORECASE)
_SCRIPT: Final = re.compile(NAME + rb"script\b")
_DATABASE: Final = re.compile(NAME + rb"(?:connectString|udl)\b")
_OTHER_PROGRAM: Final = re.compile(NAME + rb"(?:ddeLink|oleLink)\b")
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
    has_formulas = "spreadsheetml" in kind or name.lower().startswith("xl/")
    asks_database = b"mailMerge" in xml and _DATABASE.search(xml) is not None
    if not (has_fields or has_drawings or is_svg or is_connections or has_formulas or asks_database):
        return
    # Whoever shows it reads past these, also in the middle of a word; the declaration at the begin is one of them.
    if b"<!" in xml or xml.find(b"<?", 2) > 0:
        xml = _NOT_TEXT.sub(lambda match: html.escape((match[1] or b"").decode("utf-8", "replace")).encode(), xml)
    if has_fields and (said := what_fields_ask(xml)) is not None:
        raise _refused(name, said)
    if has_formulas and (said := what_formulas_ask(xml)) is not None:
        raise _refused(name, said)
    if has_formulas and _OTHER_PROGRAM.search(xml):
        raise _refused(name, "asks another program for values (DDE or OLE)")
    if asks_database:
        raise _refused(name, "is a mail merge that asks a database for its letters")
    sources = _SOURCE_IN_SVG if is_svg else _SOURCE
    if (has_drawings or is_svg) and any(map(_ELSEWHERE.match, _values(_DRAWN, sources, xml))):
        raise _refused(name, "shows a picture from another place")
    if is_svg and _SCRIPT.search(xml):
        raise _refused(name, "is a picture with a program in it")
    if is_connections and _AT_ONCE.search(xml):
        raise _refused(name, "loads data from elsewhere as soon as it is opened")


def _values(tag: re.Pattern[bytes], attribute: re.Pattern[bytes], xml: Content) -> Iterator[str]:
    for found in tag.finditer(xml):
        yield from values(attribute, found[1])


def _refused(name: str, why: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("external_reference", f"the part {name!r} {why}")
