"""What the tests of presentations share: opening, editing, writing, and what makes a file sound."""

import io
import posixpath
import zipfile
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

import pptx
from lxml import etree

from officeplane.domain.document import Format, Node
from officeplane.edits.contract import Edit, Occasion, Result
from officeplane.formats.gate import admit
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from tests.fixtures.documents import slides

A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
P14: Final = "{http://schemas.microsoft.com/office/powerpoint/2010/main}"
R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_SECTION: Final = f"{P}extLst/{P}ext/{P14}sectionLst/{P14}section"

# The order in which the schema wants the children of what edits write.
_ORDERS: Final = {
    f"{P}presentation": (
        "sldMasterIdLst", "notesMasterIdLst", "handoutMasterIdLst", "sldIdLst", "sldSz", "notesSz", "smartTags",
        "embeddedFontLst", "custShowLst", "photoAlbum", "custDataLst", "kinsoku", "defaultTextStyle", "modifyVerifier",
        "extLst",
    ),
    f"{P}sld": ("cSld", "clrMapOvr", "transition", "timing", "extLst"),
    f"{P}sp": ("nvSpPr", "spPr", "style", "txBody", "extLst"),
    f"{P}nvPr": ("ph", "videoFile", "custDataLst", "extLst"),
    f"{P}spPr": ("xfrm", "custGeom", "prstGeom", "noFill", "solidFill", "ln", "extLst"),
    f"{P}graphicFrame": ("nvGraphicFramePr", "xfrm", "graphic", "extLst"),
    f"{P}txBody": ("bodyPr", "lstStyle", "p"),
    f"{A}txBody": ("bodyPr", "lstStyle", "p"),
    f"{A}pPr": ("lnSpc", "spcBef", "spcAft", "buClr", "buSzPct", "buFont", "buNone", "buAutoNum", "buChar", "defRPr"),
    f"{A}tcPr": ("lnL", "lnR", "lnT", "lnB", "lnTlToBr", "lnBlToTr", "noFill", "solidFill", "extLst"),
    f"{A}ln": ("noFill", "solidFill", "prstDash", "round", "headEnd", "tailEnd", "extLst"),
    f"{A}endParaRPr": ("ln", "solidFill", "effectLst", "highlight", "latin", "ea", "cs", "sym"),
    f"{A}rPr": ("ln", "solidFill", "effectLst", "highlight", "latin", "ea", "cs", "sym", "hlinkClick"),
    f"{A}tbl": ("tblPr", "tblGrid", "tr"),
    f"{A}tc": ("txBody", "tcPr"),
}  # fmt: skip


def opened(data: bytes) -> Presentation:
    return Presentation(Package.read(data))


def occasion(number: int = 1) -> Occasion:
    return Occasion(f"task-{number}", "ada", datetime(2024, 5, 1, 12, tzinfo=UTC), slides.taken())


def applied(deck: Presentation, *edits: Edit) -> Result:
    """Apply edits one after another; return the result of the last."""
    result: Result = {}
    for number, edit in enumerate(edits):
        result = edit.apply(deck, occasion(number))
    return result


def written(deck: Presentation) -> bytes:
    """Return the file, sound as all that edits write."""
    data = deck.package.write().content()
    assert_sound(data)
    return data


def reopened(data: bytes) -> Any:
    return pptx.Presentation(io.BytesIO(data))


def slides_of(deck: Presentation) -> list[Node]:
    """Return the slides of the outline, whatever chapters they are in."""
    outline = deck.outline()
    return [slide for node in outline for slide in (node.children if node.kind == "chapter" else [node])]


def titles(deck: Presentation) -> list[str]:
    return [slide.text for slide in slides_of(deck)]


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def differing(before: bytes, after: bytes) -> set[str]:
    """Return the parts that are not the same in two files."""
    old, new = parts(before), parts(after)
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def assert_sound(data: bytes) -> None:
    """What would make PowerPoint offer a repair is not in the file, and others can open it."""
    assert admit(data) is Format.PPTX
    for slide in reopened(data).slides:
        assert slide.slide_layout is not None
        assert len(list(slide.shapes)) >= 0
        if slide.has_notes_slide:
            assert slide.notes_slide.part.notes_master is not None
    assert_consistent(data)


def assert_consistent(data: bytes) -> None:
    """The parts of a file name each other as they should."""
    held = parts(data)
    trees = {name: etree.fromstring(body) for name, body in held.items() if name.endswith((".xml", ".rels"))}
    _assert_declared(held, trees["[Content_Types].xml"])
    for name, root in trees.items():
        if name.endswith(".rels"):
            _assert_leads_somewhere(name, root, held)
        elif name.startswith("ppt/slides/"):
            _assert_named(name, root, trees)
        if name.startswith(("ppt/slides/slide", "ppt/notesSlides/", "ppt/presentation")):
            _assert_ordered(root)
    _assert_listed(trees["ppt/presentation.xml"])


def _assert_declared(held: dict[str, bytes], types: Any) -> None:
    overrides = Counter(entry.get("PartName") for entry in types if entry.tag.endswith("Override"))
    extensions = {entry.get("Extension").lower() for entry in types if entry.tag.endswith("Default")}
    assert set(overrides.values()) <= {1}
    assert {name[1:] for name in overrides} <= held.keys()
    for name in held.keys() - {"[Content_Types].xml"}:
        assert f"/{name}" in overrides or name.rpartition(".")[2].lower() in extensions


def _assert_leads_somewhere(name: str, root: Any, held: dict[str, bytes]) -> None:
    folder = posixpath.dirname(posixpath.dirname(name))
    user = posixpath.join(folder, posixpath.basename(name).removesuffix(".rels"))
    assert user in held or name == "_rels/.rels"
    for arrow in root:
        if arrow.get("TargetMode") != "External":
            assert posixpath.normpath(posixpath.join(folder, arrow.get("Target"))).lstrip("/") in held


def _assert_named(name: str, root: Any, trees: dict[str, Any]) -> None:
    rels = trees[f"ppt/slides/_rels/{posixpath.basename(name)}.rels"]
    known = {arrow.get("Id") for arrow in rels}
    used = {value for each in root.iter() for key, value in each.attrib.items() if key.startswith(R) and value}
    assert used <= known
    assert sum(arrow.get("Type").endswith("/slideLayout") for arrow in rels) == 1
    numbers = Counter(each.get("id") for each in root.iter(f"{P}cNvPr"))
    assert set(numbers.values()) == {1}
    assert all(len(each.findall(f"{A}p")) for each in root.iter(f"{P}txBody", f"{A}txBody"))


def _assert_ordered(root: Any) -> None:
    for each in root.iter():
        order = _ORDERS.get(each.tag)
        if order is None:
            continue
        places = [order.index(etree.QName(child).localname) for child in each]
        assert all(one <= next_one for one, next_one in pairwise(places)), (each.tag, [child.tag for child in each])


def _assert_listed(root: Any) -> None:
    ids = [entry.get("id") for entry in root.iterfind(f"{P}sldIdLst/{P}sldId")]
    assert len(set(ids)) == len(ids)
    assert all(256 <= int(each) < 2_147_483_648 for each in ids)
    listed = [entry.get("id") for entry in root.iterfind(f"{_SECTION}/{P14}sldIdLst/{P14}sldId")]
    assert len(set(listed)) == len(listed)
    known = [each for each in listed if each in ids]
    assert known == [each for each in ids if each in listed]
    assert len({entry.get("id") for entry in root.iterfind(_SECTION)}) == len(root.findall(_SECTION))
