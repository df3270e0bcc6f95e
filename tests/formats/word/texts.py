"""What the tests of Word documents share: opening, editing, writing, and what makes a file sound."""

import io
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

import docx
import docx.document
from lxml import etree

from officeplane.domain.document import Format, Node
from officeplane.edits.contract import Edit, Occasion, Result
from officeplane.formats.gate import admit
from officeplane.formats.package import Package
from officeplane.formats.word.document import Word
from officeplane.formats.xml import Element

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAIN: Final = "word/document.xml"

# The order in which the schema wants the children of what edits write.
_ORDERS: Final = {
    "pPr": (
        "pStyle", "keepNext", "keepLines", "pageBreakBefore", "framePr", "widowControl", "numPr", "suppressLineNumbers",
        "pBdr", "shd", "tabs", "spacing", "ind", "contextualSpacing", "jc", "outlineLvl", "rPr", "sectPr", "pPrChange",
    ),
    "rPr": (
        "ins", "del", "rStyle", "rFonts", "b", "bCs", "i", "iCs", "caps", "strike", "color", "sz", "szCs", "highlight",
        "u", "rPrChange",
    ),
    "tbl": ("tblPr", "tblGrid", "tr", "sdt"),
    "tblPr": ("tblStyle", "tblW", "jc", "tblBorders", "tblLayout", "tblCellMar", "tblLook"),
    "num": ("abstractNumId", "lvlOverride"),
    "abstractNum": ("nsid", "multiLevelType", "tmpl", "name", "styleLink", "numStyleLink", "lvl"),
    "numbering": ("numPicBullet", "abstractNum", "num", "numIdMacAtCleanup"),
    "style": (
        "name", "aliases", "basedOn", "next", "link", "autoRedefine", "hidden", "uiPriority", "semiHidden",
        "unhideWhenUsed", "qFormat", "locked", "rsid", "pPr", "rPr", "tblPr", "trPr", "tcPr", "tblStylePr",
    ),
    "p": ("pPr", "*"),
    "r": ("rPr", "*"),
}  # fmt: skip


def opened(data: bytes) -> Word:
    return Word(Package.read(data))


def occasion(number: int = 1) -> Occasion:
    return Occasion(f"task-{number}", "Ada Lovelace", datetime(2024, 5, 1, 12, tzinfo=UTC))


def applied(word: Word, *edits: Edit) -> Result:
    """Apply edits one after another; return the result of the last."""
    result: Result = {}
    for number, edit in enumerate(edits):
        result = edit.apply(word, occasion(number))
    return result


def written(word: Word) -> bytes:
    return word.package.write().content()


def reopened(word: Word) -> docx.document.Document:
    """Return the document as python-docx reads it."""
    return docx.Document(io.BytesIO(written(word)))


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def differing(before: bytes, after: bytes) -> set[str]:
    """Return the parts that are new or other than they were; none may be gone."""
    old, new = parts(before), parts(after)
    assert set(old) <= set(new)
    return {name for name in new if new[name] != old.get(name)}


def xml(word: Word, part: str = MAIN) -> str:
    return word.package.content(part).decode()


def nodes(found: Sequence[Node]) -> Iterator[Node]:
    for node in found:
        yield node
        yield from nodes(node.children)


def node(word: Word, text: str) -> Node:
    """Return the first node that says just this."""
    return next(one for one in nodes(word.outline()) if one.text == text)


def shape(word: Word) -> list[object]:
    """Return the outline without its ids."""

    def of(found: Sequence[Node]) -> list[object]:
        return [(one.kind, one.text, of(one.children)) if one.children else (one.kind, one.text) for one in found]

    return of(word.outline())


def assert_sound(word: Word) -> None:
    """Check that what is written is admitted, reopens, is in the schema's order, and lacks nothing it refers to."""
    data = written(word)
    assert admit(data) is Format.DOCX
    docx.Document(io.BytesIO(data))
    again = opened(data)
    assert again.outline() == word.outline()
    assert again.text() == word.text()
    for name, content in parts(data).items():
        if name.startswith("word/") and name.endswith(".xml"):
            root = etree.fromstring(content)
            _assert_order(root)
            _assert_marks(root)
    _assert_ids(again)
    _assert_references(parts(data))


def _assert_order(root: Element) -> None:
    for element in root.iter(f"{W}*"):
        order = _ORDERS.get(etree.QName(element).localname)
        if order is None:
            continue
        names = [etree.QName(inner).localname for inner in element if isinstance(inner.tag, str)]
        if "*" in order:
            assert "pPr" not in names[1:]
            assert "rPr" not in names[1:]
            continue
        ranks = [order.index(name) for name in names if name in order]
        assert ranks == sorted(ranks), (element.tag, names)


def _assert_marks(root: Element) -> None:
    starts = Counter(mark.get(f"{W}id") for mark in root.iter(f"{W}bookmarkStart"))
    ends = Counter(mark.get(f"{W}id") for mark in root.iter(f"{W}bookmarkEnd"))
    assert starts == ends
    assert not [number for number, count in starts.items() if count > 1]
    names = Counter(mark.get(f"{W}name") for mark in root.iter(f"{W}bookmarkStart"))
    assert not [name for name, count in names.items() if count > 1]
    begun = Counter(mark.get(f"{W}id") for mark in root.iter(f"{W}commentRangeStart"))
    assert begun == Counter(mark.get(f"{W}id") for mark in root.iter(f"{W}commentRangeEnd"))
    for cell in root.iter(f"{W}tc"):
        assert cell[-1].tag == f"{W}p"
    for first, second in pairwise(inner for inner in root.iter(f"{W}tbl", f"{W}p") if inner.getparent() is root):
        assert (first.tag, second.tag) != (f"{W}tbl", f"{W}tbl")


def _assert_ids(word: Word) -> None:
    ids = Counter(one.id for one in nodes(word.outline()))
    assert not [node_id for node_id, count in ids.items() if count > 1]
    for one in nodes(word.outline()):
        assert word.fingerprint(one.id) is not None


def _assert_references(found: dict[str, bytes]) -> None:
    root = etree.fromstring(found[MAIN])
    relations = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
    known = {arrow.get("Id") for arrow in etree.fromstring(found["word/_rels/document.xml.rels"])}
    assert {link.get(f"{relations}id") for link in root.iter(f"{W}hyperlink")} - {None} <= known
    styles = etree.fromstring(found.get("word/styles.xml", b"<none/>"))
    defined = {style.get(f"{W}styleId") for style in styles.iter(f"{W}style")}
    used = {style.get(f"{W}val") for style in root.iter(f"{W}pStyle", f"{W}rStyle", f"{W}tblStyle")}
    assert used <= defined | {"Heading1"}
    numbers = {number.get(f"{W}val") for number in root.iter(f"{W}numId")}
    if numbers:
        lists = etree.fromstring(found["word/numbering.xml"])
        assert numbers <= {number.get(f"{W}numId") for number in lists.iter(f"{W}num")}
