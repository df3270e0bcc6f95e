"""Uses of links: an address that a reader may click on is not one that a picture may be loaded from.

What leads where is said in one part and what it is used for in another, and not
every program compares the two: a hyperlink's id at a picture or a template is
enough for some to load it.
"""

import html
import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.inflation import Content
from officeplane.formats.kept_links import Kept

_NAMESPACES: Final = frozenset(
    {
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "http://purl.oclc.org/ooxml/officeDocument/relationships",
    }
)
_PREFIX: Final = re.compile(rb"\bxmlns:([^\s=]+)\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
_VALUE: Final = rb"\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')"
_TAG: Final = re.compile(rb"<(?:[^\s<>/:]+:)?([^\s<>/]+)")
CLICKED: Final = "hyperlink"
Use: TypeAlias = Kept | Literal["hyperlink"]
"""What a relationship may be used for."""

_USERS: Final[Mapping[Use, frozenset[bytes]]] = {
    CLICKED: frozenset({b"hyperlink", b"hlinkClick", b"hlinkHover", b"hlinkMouseOver"}),
    Kept.PICTURE: frozenset({b"blip", b"imagedata", b"fill", b"stroke"}),
    Kept.WORKBOOK: frozenset({b"externalReference", b"externalBook", b"worksheetSource", b"externalData"}),
    Kept.DOCUMENT: frozenset({b"OLEObject", b"oleObj", b"oleObject"}),
}
_PROGRAM: Final = re.compile(rb"\b[pP]rog(?:ID|Id)" + rb"\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
_OFFICE_PROGRAM: Final = re.compile(r"(?:Word\.Document|Excel\.Sheet|PowerPoint\.(?:Show|Slide))(?:\.\d+)?")
"""Of what is embedded, the program that is to open it; another could take a document for something to run."""


def check_uses(name: str, xml: Content, uses: Mapping[str, Use]) -> None:
    """Refuse a part, well-formed and in UTF-8, that uses links, by their ids, as anything else than they are."""
    prefixes = {
        re.escape(found[1]) for found in _PREFIX.finditer(xml) if _unescaped(found[2] or found[3] or b"") in _NAMESPACES
    }
    attributes = [b"\\b" + prefix + rb":[^\s=<>]+" for prefix in sorted(prefixes)]
    references = re.compile(b"(?:" + b"|".join([*attributes, rb":relid"]) + b")" + _VALUE)
    for reference in references.finditer(xml):
        use = uses.get(_unescaped(reference[1] or reference[2] or b""))
        if use is None:
            continue
        # No `<` stands in an attribute: the last one before it begins its tag.
        begin = xml.rfind(b"<", 0, reference.start())
        tag = _TAG.match(xml, begin)
        if tag is None or tag[1] not in _USERS[use]:
            what = "the address of a hyperlink" if use == CLICKED else f"a {use}"
            raise UnsupportedDocumentError(
                "external_reference", f"{name!r} loads something from {what} ({reference[0][:50]!r})"
            )
        if use is Kept.DOCUMENT and not _is_opened_by_office(xml[begin : xml.find(b">", reference.end())]):
            raise UnsupportedDocumentError(
                "embedded_object", f"{name!r} embeds a document that another program than Office is to open; remove it"
            )


def _is_opened_by_office(tag: Content) -> bool:
    named = [_unescaped(found[1] or found[2] or b"") for found in _PROGRAM.finditer(tag)]
    return all(_OFFICE_PROGRAM.fullmatch(program) for program in named)


def _unescaped(value: bytes) -> str:
    return html.unescape(value.decode("utf-8", "replace"))
