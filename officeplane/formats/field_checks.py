"""Checks of fields in Word documents: none has other programs or other machines asked for what is to be shown.

A field that includes another file, or rows of a database, asks for it again when it is updated, and from a share that
gives the reader's name and password hash away. Pictures from the web are common and are asked for when somebody
updates fields; one that is marked to be updated at once is asked for as soon as the document is opened.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from officeplane.formats.content_text import NAME, REST, unescaped, values
from officeplane.formats.inflation import Content

_FIELD_CODE: Final = re.compile(NAME + rb"(?:(fldChar)|instrText|delInstrText)\b" + REST + rb"([^<]*)")
_FIELD_PLACE: Final = re.compile(rb"\bfldCharType\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_SIMPLE_FIELD: Final = re.compile(NAME + rb"fldSimple\b" + REST)
_CODE: Final = re.compile(rb"\binstr\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_DIRTY: Final = re.compile(rb"\bdirty\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_YES: Final = frozenset({"1", "true", "on"})

_DDE: Final = re.compile(r"[\s\\]*DDE(?:AUTO)?\b", re.IGNORECASE)
_FILES: Final = re.compile(r"[\s\\]*(?:INCLUDETEXT|INCLUDE|LINK|DATABASE|RD)\b(.*)", re.IGNORECASE | re.DOTALL)
_PICTURES: Final = re.compile(r"[\s\\]*(?:INCLUDEPICTURE|IMPORT)\b(.*)", re.IGNORECASE | re.DOTALL)
_BEGINS: Final = r"(?:^|[\s\"'“”=])"
_SHARE: Final = re.compile(rf"{_BEGINS}(?:\\\\|//|file:)", re.IGNORECASE)
_ANYWHERE: Final = re.compile(rf"{_BEGINS}(?:\\\\|//|[a-z][a-z0-9+.-]+:)", re.IGNORECASE)


class _Field(NamedTuple):
    """The code of a field, or of a stretch of it, and whether it is updated as soon as the document is opened."""

    code: str
    is_dirty: bool


def what_fields_ask(xml: Content) -> str | None:
    """Say what is wrong with the fields of a part; None when nothing is."""
    for field in _fields(xml):
        if _DDE.match(field.code):
            return "has a DDE field, which asks other programs for its content"
        if (files := _FILES.match(field.code)) and _ANYWHERE.search(files[1]):
            return "has a field that includes something from another machine"
        if (pictures := _PICTURES.match(field.code)) and (_ANYWHERE if field.is_dirty else _SHARE).search(pictures[1]):
            return "has a field that shows a picture from another machine"
    return None


def _fields(xml: Content) -> Iterator[_Field]:
    """Yield the code of each field, which may be in many runs with other fields between, and each stretch of it."""
    for simple in _SIMPLE_FIELD.finditer(xml):
        for code in values(_CODE, simple[1]):
            yield _Field(code, _is_dirty(simple[1]))
    stretch: list[bytes] = []
    within: list[list[bytes]] = [[]]
    # Of each open field: whether it or one around it is updated at once. There may be many thousands.
    dirty = [False]
    for piece in _FIELD_CODE.finditer(xml):
        if piece[1] is None:
            stretch.append(piece[3])
            within[-1].append(piece[3])
            continue
        yield _Field(unescaped(b"".join(stretch)), dirty[-1])
        stretch = []
        places = set(values(_FIELD_PLACE, piece[2]))
        if places == {"end"} and len(within) > 1:
            yield _Field(unescaped(b"".join(within.pop())), dirty[-1])
            dirty.pop()
        elif places not in ({"separate"}, {"end"}):
            within.append([])
            dirty.append(dirty[-1] or _is_dirty(piece[2]))
    for pieces in (stretch, *within):
        yield _Field(unescaped(b"".join(pieces)), dirty[-1])


def _is_dirty(attributes: bytes) -> bool:
    return any(value.strip().lower() in _YES for value in values(_DIRTY, attributes))
