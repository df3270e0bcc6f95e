"""Kept links: what of a file leads to pictures and workbooks elsewhere, or holds whole documents.

Under the policy `standard` it is let in and kept as it is. Nobody here follows it; who opens the file in
Office is asked, or has the picture fetched. A picture on a share is never let in: it would be fetched
without a question, with the reader's name and the hash of his password.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import unquote

from officeplane.formats.package import Package
from officeplane.formats.xml import Element

OFFICE: Final = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/",
    "http://purl.oclc.org/ooxml/officeDocument/relationships/",
)
"""How the types of relationships begin, in ordinary and in strict files."""

_PICTURES: Final = frozenset(f"{begin}image" for begin in OFFICE)
_PATHS: Final = frozenset(
    {"externallinkpath", "externallinklongpath", "xlpathmissing", "xlstartup", "xlalternatestartup", "xllibrary"}
)
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)
_FILE: Final = re.compile(r"file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)


class Kept(StrEnum):
    """What is let in under the policy `standard` alone, as downloads tell of it."""

    PICTURE = "linked-picture"
    WORKBOOK = "linked-workbook"
    DOCUMENT = "embedded-document"


class Link(NamedTuple):
    """One relationship as it is written."""

    id: str
    type: str
    target: str
    mode: str

    @property
    def kind(self) -> str:
        """The last word of its type, in small letters."""
        return self.type.strip().rstrip("/").rpartition("/")[2].lower()


def kept_as(name: str, link: Link) -> Kept | None:
    """Return what a relationship of the part `name` is let in as; None for all that has nothing to do with this."""
    of_chart = is_of_chart(name)
    if link.mode == "External":
        if link.type in _PICTURES:
            return Kept.PICTURE if _is_reachable(link.target) and not _is_share(link.target) else None
        of_workbook = name.lower().startswith("xl/") and link.kind in _PATHS
        is_data = of_chart and link.kind in {"oleobject", "package"}
        return Kept.WORKBOOK if (of_workbook or is_data) and _is_reachable(link.target) else None
    if link.kind == "externallink":
        return Kept.WORKBOOK
    return Kept.DOCUMENT if link.kind == "package" and not of_chart else None


def kept_in(package: Package) -> list[Kept]:
    """Return what of all this a file has in it, each once."""
    found: set[Kept] = set()
    for name in package.names:
        if name.lower().endswith(".rels"):
            found |= {kept for link in links(package.tree(name)) if (kept := kept_as(name, link)) is not None}
    return sorted(found)


def links(root: Element) -> Iterator[Link]:
    """Yield all relationships that a part holds, wherever in it they stand."""
    for element in root.iter():
        if isinstance(element.tag, str) and (element.get("Target") is not None or element.get("Type") is not None):
            yield Link(
                element.get("Id", ""), element.get("Type", ""), element.get("Target", ""),
                element.get("TargetMode", "Internal"),
            )  # fmt: skip


def is_of_chart(name: str) -> bool:
    """Tell whether a part belongs to charts, which have their data in workbooks of their own."""
    return "/charts/" in f"/{name}" or "/chartex/" in f"/{name}"


def _is_reachable(address: str) -> bool:
    bare = unquote(address)
    if any(char < " " or char == "\x7f" for char in bare):
        return False
    found = _SCHEME.match(bare.strip())
    return found is None or found[1].lower() in {"http", "https", "file"}


def _is_share(address: str) -> bool:
    """Tell whether an address names another machine in the way in which Windows asks it with the reader's name."""
    path = unquote(address).strip().replace("\\", "/")
    if path.lower().startswith(("http:", "https:")):
        return "@" in path.partition("//")[2].partition("/")[0]
    if path.lower().startswith("file:"):
        path = _FILE.sub("", path, count=1)
    return path.startswith("//")
