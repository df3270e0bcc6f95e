"""Fingerprints: what stretches of a text say and how, whatever their paragraphs are called."""

import hashlib
from collections.abc import Iterable
from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.formats.word.bookmarks import node_of
from officeplane.formats.word.names import BOOKMARK_END, BOOKMARK_START, ID, PARA_ID, TR, P
from officeplane.formats.xml import Element

_MARKS: Final = (BOOKMARK_START, BOOKMARK_END)


def fingerprint(elements: Iterable[Element]) -> str:
    """Return a hash of elements without what an edit elsewhere may have stamped on them."""
    digest = hashlib.sha256()
    for element in elements:
        digest.update(etree.tostring(_bare(element), method="c14n", exclusive=True))
    return digest.hexdigest()


def _bare(element: Element) -> Element:
    copy = deepcopy(element)
    copy.tail = None
    for named in copy.iter(P, TR):
        named.attrib.pop(PARA_ID, None)
    ours = {mark.get(ID) for mark in copy.iter(BOOKMARK_START) if node_of(mark) is not None}
    for mark in [mark for mark in copy.iter(*_MARKS) if ours and mark.get(ID) in ours]:
        parent = mark.getparent()
        if parent is not None:
            parent.remove(mark)
    return copy
