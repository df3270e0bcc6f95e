"""Texts of cells as they lie in XML: plain or in runs, with what XML cannot hold written as `_xHHHH_`."""

import re
from collections.abc import Sequence
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.tags import MAIN, RUN, SPACE, TEXT, VALUE
from officeplane.formats.xml import Element, is_storable

LENGTH_MAX: Final = 32_767
_ESCAPE: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LIKE_AN_ESCAPE: Final = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_PHONETIC: Final = (f"{{{MAIN}}}rPh", f"{{{MAIN}}}phoneticPr")


def decode(stored: str) -> str:
    """Return the text that is meant by what is stored."""
    return _ESCAPE.sub(_meant, stored) if "_x" in stored else stored


def _meant(escape: re.Match[str]) -> str:
    number = int(escape[1], 16)
    return escape[0] if 0xD800 <= number <= 0xDFFF else chr(number)


def encode(text: str) -> str:
    """Return how a text is stored so that it is read again as it is."""
    stored = _LIKE_AN_ESCAPE.sub("_x005F_", text)
    if is_storable(stored):
        return stored
    # An old file may hold such characters; they go back the way they came.
    return "".join(char if is_storable(char) else f"_x{ord(char):04X}_" for char in stored)


def set_text(holder: Element, text: str) -> None:
    """Give a `t` its text."""
    # No text rather than an empty one: they are the same once the part is read again.
    holder.text = encode(text) or None
    if holder.tag == TEXT and (text != text.strip() or "\n" in text or "\t" in text):
        holder.set(SPACE, "preserve")


def length_of(text: str) -> int:
    """Return how long a text is for Excel: a character outside the basic plane is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def read(item: Element) -> str:
    """Return the text of an `si`, an `is` or a `v`, without how it is pronounced."""
    if len(item) == 1 and item[0].tag == TEXT:
        return decode(item[0].text or "")
    return "".join(decode(holder.text or "") for holder in _holders(item))


def replace(item: Element, spans: Sequence[tuple[int, int]], with_texts: Sequence[str]) -> None:
    """Replace stretches of the text of an `si` or `is`; each run keeps its formatting."""
    holders = _holders(item)
    texts = [decode(holder.text or "") for holder in holders]
    whole = "".join(texts)
    gone = sum(length_of(whole[begin:end]) for begin, end in spans)
    length = length_of(whole) + sum(map(length_of, with_texts)) - gone
    if length > LENGTH_MAX:
        raise InvalidEditError(f"a cell would have {length} characters; it holds {LENGTH_MAX}")
    for (begin, end), with_text in zip(reversed(spans), reversed(with_texts), strict=True):
        at = 0
        first = True
        for index, text in enumerate(texts):
            low, high = max(begin - at, 0), min(end - at, len(text))
            at += len(text)
            if low < high:
                texts[index] = text[:low] + (with_text if first else "") + text[high:]
                first = False
    for holder, text in zip(holders, texts, strict=True):
        if text == decode(holder.text or ""):
            continue
        run = holder.getparent()
        if not text and run is not None and run.tag == RUN and len(item.findall(RUN)) > 1:
            item.remove(run)
        else:
            set_text(holder, text)
    for child in list(item):
        if child.tag in _PHONETIC:
            item.remove(child)


def new_text(parent: Element, text: str) -> None:
    """Add a `t` with this text."""
    set_text(etree.SubElement(parent, TEXT), text)


def _holders(item: Element) -> list[Element]:
    if item.tag == VALUE:
        return [item]
    found: list[Element] = []
    for child in item:
        if child.tag == TEXT:
            found.append(child)
        elif child.tag == RUN:
            found += child.findall(TEXT)
    return found
