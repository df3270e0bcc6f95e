"""Uses of hyperlinks: an address that a reader may click on is not one that a picture may be loaded from.

What leads where is said in one part and what it is used for in another, and not
every program compares the two: a hyperlink's id at a picture or a template is
enough for some to load it.
"""

import html
import re
from collections.abc import Collection
from typing import Final

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.inflation import Content

_NAMESPACES: Final = frozenset(
    {
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "http://purl.oclc.org/ooxml/officeDocument/relationships",
    }
)
_PREFIX: Final = re.compile(rb"\bxmlns:([^\s=]+)\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
_VALUE: Final = rb"\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')"
_TAG: Final = re.compile(rb"<(?:[^\s<>/:]+:)?([^\s<>/]+)")
_CLICKED: Final = frozenset({b"hyperlink", b"hlinkClick", b"hlinkHover", b"hlinkMouseOver"})


def check_uses(name: str, xml: Content, ids: Collection[str]) -> None:
    """Refuse a part, well-formed and in UTF-8, that uses hyperlinks, by their ids, as anything else."""
    prefixes = {
        re.escape(found[1]) for found in _PREFIX.finditer(xml) if _unescaped(found[2] or found[3] or b"") in _NAMESPACES
    }
    attributes = [b"\\b" + prefix + rb":[^\s=<>]+" for prefix in sorted(prefixes)]
    references = re.compile(b"(?:" + b"|".join([*attributes, rb":relid"]) + b")" + _VALUE)
    for reference in references.finditer(xml):
        if _unescaped(reference[1] or reference[2] or b"") not in ids:
            continue
        # No `<` stands in an attribute: the last one before it begins its tag.
        tag = _TAG.match(xml, xml.rfind(b"<", 0, reference.start()))
        if tag is None or tag[1] not in _CLICKED:
            raise UnsupportedDocumentError(
                "external_reference",
                f"{name!r} loads something from the address of a hyperlink ({reference[0][:50]!r})",
            )


def _unescaped(value: bytes) -> str:
    return html.unescape(value.decode("utf-8", "replace"))
