"""Media types: what the pictures in files are, by how they begin; nobody's word is taken for it."""

import re
from typing import Final

UNKNOWN: Final = "application/octet-stream"
_BEGINNINGS: Final = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"BM.{4}\0\0\0\0", re.DOTALL), "image/bmp"),
    (re.compile(rb"II\*\0|MM\0\*"), "image/tiff"),
    (re.compile(rb"\x01\0\0\0.{36} EMF", re.DOTALL), "image/emf"),
    (re.compile(rb"\xd7\xcd\xc6\x9a|[\x01\x02]\0\x09\0\0[\x01\x03]"), "image/wmf"),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:[?!][^>]*>\s*<){0,20}(?:\w{1,20}:)?svg[\s/>]"), "image/svg+xml"),
)
_HEAD: Final = 4_096

SHOWN: Final = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"))
"""What a browser shows without running anything that is in it."""


def media_type(content: bytes) -> str:
    """Return what the bytes of a picture are."""
    head = content[:_HEAD]
    return next((kind for beginning, kind in _BEGINNINGS if beginning.match(head)), UNKNOWN)


def extension(kind: str) -> str:
    """Return how the name of such a file ends."""
    return {UNKNOWN: "bin", "image/svg+xml": "svg"}.get(kind, kind.rpartition("/")[2])
