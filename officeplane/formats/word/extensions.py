"""Extensions: names that are younger than the format, declared so that older programs pass over them."""

from lxml import etree

from officeplane.formats.word.names import COMPATIBILITY, IGNORABLE, W14
from officeplane.formats.xml import Element


def extended(root: Element) -> Element:
    """Return a root under which paragraphs may have ids: itself, or another one to which all in it has moved."""
    known = {uri for prefix, uri in root.nsmap.items() if prefix is not None}
    missing = {uri: prefix for prefix, uri in (("mc", COMPATIBILITY), ("w14", W14)) if uri not in known}
    if missing:
        declared: dict[str | None, str] = {
            **root.nsmap,
            **{_free(root, prefix): uri for uri, prefix in missing.items()},
        }
        larger = etree.Element(root.tag, dict(root.attrib), nsmap=declared)
        larger.text = root.text
        larger.extend(list(root))
        root = larger
    prefix = next(prefix for prefix, uri in root.nsmap.items() if prefix is not None and uri == W14)
    ignored = root.get(IGNORABLE, "").split()
    if prefix not in ignored:
        root.set(IGNORABLE, " ".join([*ignored, prefix]))
    return root


def _free(root: Element, prefix: str) -> str:
    while prefix in root.nsmap:
        prefix += "x"
    return prefix
