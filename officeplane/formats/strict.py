"""Strict Open XML: the same as the ordinary form in other words, which are replaced when a part is read.

Names of namespaces and of relationships begin otherwise, lengths may have units, and parts of
a whole are percentages. What is written is always the ordinary form, so a strict file is read and not edited.
"""

import re
from typing import Final

from lxml import etree

from officeplane.formats.xml import Element, parse

LINKS_PART: Final = "_rels/.rels"
_SAYS_SO: Final = re.compile(rb"[\"']http://purl\.oclc\.org/ooxml/officeDocument/relationships/officeDocument[\"']")
_NAME: Final = re.compile(rb"(=\s*[\"'])http://purl\.oclc\.org/ooxml/([A-Za-z]+)/([^\"'<]*)")
_RENAMED: Final = {b"extendedProperties": b"extended-properties", b"customProperties": b"custom-properties"}

_WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_LENGTH: Final = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)(mm|cm|in|pt|pc|pi)")
_PERCENTAGE: Final = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)%")
_TWENTIETHS: Final = {"mm": 1440 / 25.4, "cm": 1440 / 2.54, "in": 1440, "pt": 20, "pc": 240, "pi": 240}
_IN_HALF_POINTS: Final = frozenset(f"{_WORD}{name}" for name in ("sz", "szCs", "kern", "position"))
_IN_FIFTIETHS: Final = frozenset(f"{_WORD}{name}" for name in ("tblW", "tcW"))


def says_strict(links: bytes) -> bool:
    """Tell whether a file's relationships say that it is strict."""
    return _SAYS_SO.search(links) is not None


def parse_strict(data: bytes) -> Element:
    """Return the root of a part of a strict file as if the file were an ordinary one."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        data = etree.tostring(parse(data), encoding="UTF-8")
    root = parse(_NAME.sub(_ordinary, data))
    for element in root.iter(f"{_WORD}*", f"{_DRAWING}*"):
        for name, value in element.items():
            if value[-1:] in {"m", "n", "t", "c", "i", "%"} and (number := _plain(str(element.tag), value)) is not None:
                element.set(name, number)
    return root


def _ordinary(name: re.Match[bytes]) -> bytes:
    begin, family, rest = name.groups()
    words = [_RENAMED.get(word, word) for word in rest.split(b"/")]
    return begin + b"http://schemas.openxmlformats.org/" + family + b"/2006/" + b"/".join(words)


def _plain(tag: str, value: str) -> str | None:
    """Return a length or a percentage as a plain number in the unit that its place has."""
    if (length := _LENGTH.fullmatch(value)) is not None:
        twentieths = float(length[1]) * _TWENTIETHS[length[2]]
        return str(round(twentieths / 10 if tag in _IN_HALF_POINTS else twentieths))
    if (percentage := _PERCENTAGE.fullmatch(value)) is not None:
        share = 1000 if tag.startswith(_DRAWING) else 50 if tag in _IN_FIFTIETHS else 1
        return str(round(float(percentage[1]) * share))
    return None
