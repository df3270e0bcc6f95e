"""Changes of formatting, each of which keeps what was before inside what is now."""

from typing import Final

from officeplane.formats.word.names import w
from officeplane.formats.xml import Element

_FIRST: Final = frozenset(
    w(name) for name in ("ins", "del", "moveFrom", "moveTo", "headerReference", "footerReference")
)
_LAST: Final = {
    w("pPrChange"): frozenset((w("rPr"), w("sectPr"))),
    w("trPrChange"): frozenset((w("ins"), w("del"))),
    w("tcPrChange"): frozenset((w("cellIns"), w("cellDel"), w("cellMerge"))),
}
"""What a kind of properties has besides, which such a change says nothing of, where it stands behind the others."""


def reject_format(change: Element) -> None:
    """Give a paragraph, a run, a table or the like the properties that it had."""
    now = change.getparent()
    if now is None:
        return
    last = _LAST.get(str(change.tag), frozenset[str]())
    first = frozenset[str]() if last else _FIRST
    was = next(iter(change), None)
    before = [] if was is None else list(was)
    kept = [one for one in now if one is not change]
    for one in kept:
        now.remove(one)
    now.extend([one for one in kept if one.tag in first])
    now.extend(before)
    now.extend([one for one in kept if one.tag in last])
