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
_EXCEL: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
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
    import openpyxl  # noqa: PLC0415 - likewise

    workbook = openpyxl.Workbook()
    workbook.worksheets[0].title = "Sheet1"
    file = io.BytesIO()
    workbook.save(file)
    package = Package.read(file.getvalue())
    part = main_part(package)
    _remove(package.tree(part), f"{_EXCEL}workbookProtection", f"{_EXCEL}definedNames")
    package.changed(part)
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
