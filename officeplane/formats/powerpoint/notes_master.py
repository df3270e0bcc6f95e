"""The notes master: what a presentation needs before any slide can have notes."""

import posixpath
from collections.abc import Iterator
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import NOTES_MASTER_TYPE, R_ID, alone, p, under
from officeplane.formats.powerpoint.slides import free_name
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.theme import THEME, THEME_TYPE

_NAMES: Final = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)


def notes_master(package: Package, main: str) -> str:
    """Return the part of the notes master, made when there is none."""
    for arrow in Relationships(package, main).of_type("notesMaster"):
        if arrow.target in package:
            return arrow.target
    folder = posixpath.dirname(main)
    part = free_name(package, posixpath.join(folder, "notesMasters"), "notesMaster")
    theme = free_name(package, posixpath.join(folder, "theme"), "theme")
    package.put(part, _CONTENT.encode())
    declare(package, part, NOTES_MASTER_TYPE)
    package.put(theme, THEME.encode())
    declare(package, theme, THEME_TYPE)
    Relationships(package, part).add("theme", theme)
    _list(package, main, Relationships(package, main).add("notesMaster", part))
    return part


def _list(package: Package, main: str, arrow: str) -> None:
    root = package.tree(main)
    for old in root.findall(p("notesMasterIdLst")):
        root.remove(old)
    listed = alone(p("notesMasterIdLst"))
    under(listed, p("notesMasterId")).set(R_ID, arrow)
    masters = root.find(p("sldMasterIdLst"))
    if masters is None:
        root.insert(0, listed)
    else:
        masters.addnext(listed)
    package.changed(main)


def _shape(number: int, name: str, kind: str, locks: str, area: tuple[int, int, int, int], text: str) -> str:
    x, y, width, height = area
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{name}"/><p:cNvSpPr><a:spLocks noGrp="1"{locks}/></p:cNvSpPr>'
        f"<p:nvPr><p:ph {kind}/></p:nvPr></p:nvSpPr><p:spPr>"
        f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'
        f'<a:prstGeom prst="rect"><a:avLst/></a:prstGeom>{text}</p:sp>'
    )


def _levels() -> Iterator[str]:
    for level in range(9):
        yield (
            f'<a:lvl{level + 1}pPr marL="{457_200 * level}" algn="l" defTabSz="914400" rtl="0" eaLnBrk="1" '
            'latinLnBrk="0" hangingPunct="1"><a:defRPr sz="1200" kern="1200">'
            '<a:solidFill><a:schemeClr val="tx1"/></a:solidFill>'
            '<a:latin typeface="+mn-lt"/><a:ea typeface="+mn-ea"/><a:cs typeface="+mn-cs"/></a:defRPr>'
            f"</a:lvl{level + 1}pPr>"
        )


_PICTURE: Final = _shape(
    2,
    "Slide Image Placeholder 1",
    'type="sldImg" idx="2"',
    ' noRot="1" noChangeAspect="1"',
    (685_800, 1_143_000, 5_486_400, 3_086_100),
    '<a:noFill/><a:ln w="12700"><a:solidFill><a:prstClr val="black"/></a:solidFill></a:ln></p:spPr>',
)
_TEXT: Final = _shape(
    3,
    "Notes Placeholder 2",
    'type="body" sz="quarter" idx="3"',
    "",
    (685_800, 4_400_550, 5_486_400, 3_600_450),
    '</p:spPr><p:txBody><a:bodyPr vert="horz" lIns="91440" tIns="45720" rIns="91440" bIns="45720" rtlCol="0"/>'
    '<a:lstStyle/><a:p><a:pPr lvl="0"/><a:r><a:t>Click to edit Master text styles</a:t></a:r></a:p></p:txBody>',
)
_CONTENT: Final = (
    f'<p:notesMaster {_NAMES}><p:cSld><p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg><p:spTree>'
    '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm>'
    '<a:off x="0" y="0"/><a:ext cx="0" cy="0"/><a:chOff x="0" y="0"/><a:chExt cx="0" cy="0"/></a:xfrm></p:grpSpPr>'
    f"{_PICTURE}{_TEXT}</p:spTree></p:cSld>"
    '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" '
    'accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>'
    f"<p:notesStyle>{''.join(_levels())}</p:notesStyle></p:notesMaster>"
)
