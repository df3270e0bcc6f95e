"""Names of entries: those that mean the same to every program, and lead nowhere else."""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from officeplane.domain.document import UnsupportedDocumentError

NAME_BYTES_MAX: Final = 512

_FORBIDDEN: Final = frozenset('\\:<>"|?*')
_ESCAPES: Final = ("%2e", "%2f", "%5c", "%00")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def decoded(raw: bytes, *, is_utf_8: bool) -> str:
    """Return the name that an entry has; any that could mean another place is refused."""
    try:
        name = raw.decode("utf-8" if is_utf_8 else "ascii")
    except UnicodeDecodeError:
        raise _unsafe(raw.decode("utf-8", "replace")) from None
    segments = name.removesuffix("/").split("/")
    is_fine = (
        len(raw) <= NAME_BYTES_MAX
        and all(segment and not segment.endswith((".", " ")) and not segment.startswith(" ") for segment in segments)
        and not _FORBIDDEN.intersection(name)
        and ((name.isascii() and name.isprintable()) or not _INVISIBLE.intersection(map(unicodedata.category, name)))
        and not any(escape in name.lower() for escape in _ESCAPES)
        # `document.xml/[0].piece` is how a part is sent in pieces, which no Office program reads.
        and not any(segment.startswith("[") for segment in segments[1:])
    )
    if not is_fine:
        raise _unsafe(name)
    return name


def check_names(names: Iterable[str]) -> None:
    """Refuse names that some program takes for one, in whatever letters, or for a part and its folder."""
    seen: set[str] = set()
    folders: set[str] = set()
    for name in names:
        folded = _folded(name)
        if folded in seen:
            raise UnsupportedDocumentError("unsafe_name", f"the file has two parts named {name!r}")
        seen.add(folded)
        folders.update(_folders(folded))
    for name in seen & folders:
        raise UnsupportedDocumentError("unsafe_name", f"the file has {name!r} as a part and as a folder")


def _folded(name: str) -> str:
    return (
        name.lower()
        if name.isascii()
        else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    )


def _folders(name: str) -> Iterator[str]:
    at = name.find("/")
    while 0 <= at < len(name) - 1:
        yield name[:at]
        at = name.find("/", at + 1)


def _unsafe(name: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError(
        "unsafe_name", f"the file has a part with a name that none may have: {name[:100]!r}"
    )
