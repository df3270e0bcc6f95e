"""Blank documents: what a new document is before anyone has written in it.

The libraries know what an empty file needs; what their templates say of their own
makers, printers and previews is taken out. The same request gives the same bytes.
"""

import io
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from lxml import etree

from officeplane.domain.document import Format, InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, main_part, undeclare
from officeplane.formats.xml import Element, is_storable, serialise

_CORE: Final = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
_TITLE: Final = "{http://purl.org/dc/elements/1.1/}title"
_CORE_NAMESPACES: Final = {
    "cp": _CORE,
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
}
_APP: Final = (
    b"<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n"
    b'<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
    b"<Application>OfficePlane</Application></Properties>"
)
_WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SHEETS: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONSHIPS: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
_METADATA: Final = "http://schemas.openxmlformats.org/package/2006/relationships/metadata"
_PACKAGE_KIND: Final = "application/vnd.openxmlformats-package"
_DOCUMENT_KIND: Final = "application/vnd.openxmlformats-officedocument"
_WORKBOOK: Final = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        f'<Default Extension="rels" ContentType="{_PACKAGE_KIND}.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_DOCUMENT_KIND}.spreadsheetml.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_DOCUMENT_KIND}.spreadsheetml.worksheet+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_DOCUMENT_KIND}.spreadsheetml.styles+xml"/>'
        f'<Override PartName="/docProps/core.xml" ContentType="{_PACKAGE_KIND}.core-properties+xml"/>'
        f'<Override PartName="/docProps/app.xml" ContentType="{_DOCUMENT_KIND}.extended-properties+xml"/>'
        "</Types>"
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_RELATIONSHIPS}">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        f'<Relationship Id="rId2" Type="{_METADATA}/core-properties" Target="docProps/core.xml"/>'
        f'<Relationship Id="rId3" Type="{_OFFICE}/extended-properties" Target="docProps/app.xml"/>'
        "</Relationships>"
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_SHEETS}" xmlns:r="{_OFFICE}">'
        "<bookViews><workbookView/></bookViews>"
        '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_RELATIONSHIPS}">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/>'
        "</Relationships>"
    ),
    "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEETS}"><sheetData/></worksheet>',
    "xl/styles.xml": (
        f'<styleSheet xmlns="{_SHEETS}">'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        '<cellXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
        "</styleSheet>"
    ),
}
_POWERPOINT: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_DRAWING: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_WIDE: Final = 12_192_000
_NARROW: Final = 9_144_000


def blank(format: Format, title: str | None) -> bytes:
    """Return an empty document of a format, with a title if one is given."""
    package = Package.read(_template(format))
    core = etree.Element(f"{{{_CORE}}}coreProperties", nsmap=_CORE_NAMESPACES)
    if title is not None:
        if not is_storable(title):
            raise InvalidEditError("a title may not hold control characters")
        etree.SubElement(core, _TITLE).text = title
    package.put("docProps/core.xml", serialise(core))
    return package.write().content()


@cache
def _template(format: Format) -> bytes:
    """Return the empty document without a title; the libraries are asked once in a process."""
    package = _TEMPLATES[format]()
    package.put("docProps/app.xml", _APP)
    # Everything is compressed our way, so that no library's taste is in the bytes.
    for name in package.names:
        package.put(name, package.content(name))
    return package.write().content()


def _word() -> Package:
    import docx  # noqa: PLC0415 - heavy, and needed only here

    file = io.BytesIO()
    docx.Document().save(file)
    package = Package.read(file.getvalue())
    _drop(package, "", "thumbnail")
    _drop(package, "word/document.xml", "stylesWithEffects", "customXml")
    settings = package.tree("word/settings.xml")
    _remove(settings, f"{_WORD}savePreviewPicture", f"{_WORD}rsids")
    for setting in settings.iter(f"{_WORD}compatSetting"):
        # Fifteen is the Word of today; with less it says "Compatibility Mode".
        if setting.get(f"{_WORD}name") == "compatibilityMode":
            setting.set(f"{_WORD}val", "15")
    package.changed("word/settings.xml")
    return package


def _excel() -> Package:
    # By hand: the library for workbooks writes to a temporary file, which a sandboxed child must not.
    package = Package({})
    for name, content in _WORKBOOK.items():
        package.put(name, b"<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n" + content.encode())
    return package


def _powerpoint() -> Package:
    import pptx  # noqa: PLC0415 - likewise

    file = io.BytesIO()
    pptx.Presentation().save(file)
    package = Package.read(file.getvalue())
    part = main_part(package)
    _drop(package, "", "thumbnail")
    _drop(package, part, "printerSettings")
    for size in package.tree(part).iter(f"{_POWERPOINT}sldSz"):
        size.attrib.pop("type", None)
        size.set("cx", str(_WIDE))
    package.changed(part)
    for name in package.names:
        if name.startswith(("ppt/slideMasters/slide", "ppt/slideLayouts/slide")):
            _widen(package.tree(name))
            package.changed(name)
    return package


_TEMPLATES: Final[Mapping[Format, Callable[[], Package]]] = {
    Format.DOCX: _word,
    Format.XLSX: _excel,
    Format.PPTX: _powerpoint,
}


def _widen(root: Element) -> None:
    """Stretch what stands on a 4:3 slide to 16:9."""
    for tag, attribute in ((f"{_DRAWING}off", "x"), (f"{_DRAWING}ext", "cx")):
        for element in root.iter(tag):
            value = element.get(attribute)
            if value is not None:
                element.set(attribute, str(int(value) * _WIDE // _NARROW))


def _drop(package: Package, part: str, *kinds: str) -> None:
    """Take out the parts that one part leads to by these kinds of relationships, and what belongs to them."""
    links = Relationships(package, part)
    for kind in kinds:
        for link in links.of_type(kind):
            links.remove(link.id)
            for below in list(Relationships(package, link.target)):
                _take_out(package, below.target)
            folder, _, name = link.target.rpartition("/")
            _take_out(package, f"{folder}/_rels/{name}.rels")
            _take_out(package, link.target)


def _take_out(package: Package, part: str) -> None:
    if part in package:
        package.drop(part)
        undeclare(package, part)


def _remove(root: Element, *tags: str) -> None:
    for element in list(root):
        if element.tag in tags:
            root.remove(element)
