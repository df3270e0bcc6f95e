"""Checks of the XML of one part: that it is plain XML and no more of it than a tree can hold.

The parser is the one that reads parts later, so that both see the same text, but
here it builds nothing: what is checked costs no memory.
"""

import re
from typing import TYPE_CHECKING, Final, cast

from lxml import etree

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.inflation import Content

if TYPE_CHECKING:
    from lxml.etree import ParserTarget

TREE_BYTES_MAX: Final = 400 * 1000 * 1000
"""What the trees of a file's parts may take in memory, all together."""

TREE_BYTES_PER_BYTE_MAX: Final = 50
"""No text takes more: of `<a/>x`, again and again, each byte takes 49."""

_NODE_BYTES: Final = 120
_ATTRIBUTE_BYTES: Final = 216  # the attribute and the node of its text

_UTF_8_MARK: Final = b"\xef\xbb\xbf"
UTF_16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF_32_MARKS: Final = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_ENCODING: Final = re.compile(r"\bencoding\s*=\s*[\"']([^\"']*)[\"']")


def tree_bytes(xml: Content) -> int:
    """Return about how much memory the tree of a part takes."""
    # What ends is written `</`; a text is what stands between two tags that do not touch.
    tags = xml.count(b"<")
    elements = tags - xml.count(b"</")
    texts = tags - xml.count(b"><")
    return len(xml) + _NODE_BYTES * (elements + texts) + _ATTRIBUTE_BYTES * xml.count(b"=")


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


def _check_encoding(name: str, xml: Content) -> None:
    """Let only UTF-8 and UTF-16 in, each where it says so itself: any other can hide what it says."""
    head = xml[:512]
    if head.startswith(_UTF_32_MARKS) or (b"\0" in head[:4] and not head.startswith(UTF_16_MARKS)):
        raise _encoded(name)
    if head.startswith(UTF_16_MARKS):
        text, allowed = head.decode("utf-16", "replace"), {"utf-16"}
    else:
        text, allowed = (
            head.removeprefix(_UTF_8_MARK).decode("utf-8", "replace"),
            {"utf-8", "utf8", "us-ascii", "ascii"},
        )
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


def _no_xml(name: str, why: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("malformed_xml", f"the part {name!r} is no well-formed XML: {why[:200]}")


def _encoded(name: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("encoding", f"the part {name!r} is neither UTF-8 nor UTF-16")
