"""Properties: what a file says of itself, in `docProps/core.xml`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from lxml import etree

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.archive import entries
from officeplane.formats.inflation import inflate
from officeplane.formats.kept_links import links
from officeplane.formats.link_checks import target
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.xml import parse

_CORE: Final = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
_DC: Final = "http://purl.org/dc/elements/1.1/"
_TERMS: Final = "http://purl.org/dc/terms/"
_XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
_RELATIONSHIP: Final = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
_CONTENT_TYPE: Final = "application/vnd.openxmlformats-package.core-properties+xml"
_PART: Final = "docProps/core.xml"
_LINKS: Final = "_rels/.rels"
_READ_MAX: Final = 1024 * 1024
TITLE_MAX: Final = 200
"""How much of a title is of interest outside of the file."""

_EMPTY: Final = (
    f'<cp:coreProperties xmlns:cp="{_CORE}" xmlns:dc="{_DC}" xmlns:dcterms="{_TERMS}" xmlns:xsi="{_XSI}"/>'
).encode()
_NAMESPACES: Final = {
    "title": _DC, "creator": _DC, "subject": _DC, "keywords": _CORE, "lastModifiedBy": _CORE,
}  # fmt: skip


def set_properties(package: Package, given: Mapping[str, str], by: str, at: datetime) -> None:
    """Set properties by their names in the file, and note by whom and when."""
    part = _core(package)
    root = package.tree(part)
    for name, value in {**given, "lastModifiedBy": by}.items():
        tag = f"{{{_NAMESPACES[name]}}}{name}"
        found = root.find(tag)
        (etree.SubElement(root, tag) if found is None else found).text = value
    tag = f"{{{_TERMS}}}modified"
    found = root.find(tag)
    modified = etree.SubElement(root, tag) if found is None else found
    modified.set(f"{{{_XSI}}}type", "dcterms:W3CDTF")
    modified.text = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    package.changed(part)


def property_of(package: Package, name: str) -> str:
    """Return a property by its name in an edit; what was never set is empty."""
    part = _found(package)
    if part is None:
        return ""
    named = "creator" if name == "author" else name
    return package.tree(part).findtext(f"{{{_NAMESPACES[named]}}}{named}") or ""


def title_of(package: Package) -> str:
    """Return what an open file calls itself, as much as anybody wants to read; empty for nothing."""
    return _title(property_of(package, "title"))


def title_in(data: bytes) -> str:
    """Return the same of the bytes of an admitted file, of which hardly anything is read for that."""
    found = {entry.name: entry for entry in entries(data) if entry.size <= _READ_MAX}
    try:
        for link in links(parse(bytes(inflate(data, found[_LINKS])))) if _LINKS in found else ():
            part = found.get(target(_LINKS, link)) if _leads_to_properties(link.type, link.mode == "External") else None
            if part is not None:
                return _title(parse(bytes(inflate(data, part))).findtext(f"{{{_DC}}}title") or "")
    except UnsupportedDocumentError:
        # A part that is used for nothing else may be anything.
        return ""
    return ""


def _title(text: str) -> str:
    return " ".join(text.split())[:TITLE_MAX]


def _core(package: Package) -> str:
    found = _found(package)
    if found is not None:
        return found
    package.put(_PART, _EMPTY)
    declare(package, _PART, _CONTENT_TYPE)
    Relationships(package).add(_RELATIONSHIP, _PART)
    return _PART


def _found(package: Package) -> str | None:
    """Return the part with the properties."""
    for arrow in Relationships(package):
        if _leads_to_properties(arrow.type, arrow.is_external) and arrow.target in package:
            return arrow.target
    return None


def _leads_to_properties(kind: str, is_external: bool) -> bool:
    """Tell whether an arrow is the one to the properties; some programs misspell its type."""
    return kind.endswith("/core-properties") and not is_external
