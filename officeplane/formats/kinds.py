"""Kinds: what the parts of a file say they are, and which of them are not let in."""

import re
from typing import Final

from lxml import etree

from officeplane.domain.document import Format, UnsupportedDocumentError
from officeplane.formats.xml import Element, parse

CONTENT_TYPES_PART: Final = "[Content_Types].xml"

_NAMESPACE: Final = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_MAIN: Final = {
    f"{_OFFICE}wordprocessingml.document.main+xml": Format.DOCX,
    f"{_OFFICE}spreadsheetml.sheet.main+xml": Format.XLSX,
    f"{_OFFICE}presentationml.presentation.main+xml": Format.PPTX,
}
_TEMPLATES: Final = frozenset(
    f"{_OFFICE}{kind}.main+xml"
    for kind in (
        "wordprocessingml.template", "spreadsheetml.template", "presentationml.template", "presentationml.slideshow",
        "wordprocessingml.document.glossary",
    )
)  # fmt: skip
_ROOTS: Final = {
    Format.DOCX: "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}document",
    Format.XLSX: "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}workbook",
    Format.PPTX: "{http://schemas.openxmlformats.org/presentationml/2006/main}presentation",
}
_STRICT: Final = "{http://purl.oclc.org/ooxml/"
_STRICT_ROOTS: Final = {
    Format.DOCX: f"{_STRICT}wordprocessingml/main}}document",
    Format.XLSX: f"{_STRICT}spreadsheetml/main}}workbook",
    Format.PPTX: f"{_STRICT}presentationml/main}}presentation",
}
_XML: Final = re.compile(r"(?:application|text)/xml|.*\+xml")

_MACROS: Final = re.compile(r"macro|vba|dialogsheet|attachedtoolbars", re.IGNORECASE)
_MACRO_NAMES: Final = re.compile(r"vbaproject|vbadata|/macrosheets/|/dialogsheets/|attachedtoolbars", re.IGNORECASE)
_OBJECTS: Final = re.compile(
    r"oleobject|activex|\.control\+xml|text/html|application/xhtml|message/rfc822|multipart/related|/rtf|x-msdownload"
    r"|msword|vnd\.ms-(?:excel|powerpoint)(?![\w.-]*\+xml)",
    re.IGNORECASE,
)
_OBJECT_NAMES: Final = re.compile(
    r"/activex/|oleobject|\.(?:exe|dll|scr|com|bat|cmd|ps1|vbs|js|jse|wsf|hta|lnk|msi|jar|docm|dotm|xlsm|xltm|xlam"
    r"|xlsb|pptm|potm|ppsm|ppam|sldm|mht|mhtml|html?|rtf|url)$",
    re.IGNORECASE,
)
_COMPOUND: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PROGRAMS: Final = (b"MZ\x90\0", b"\x7fELF")


class Kinds:
    """What each part of a file is, by `[Content_Types].xml`."""

    def __init__(self, xml: bytes) -> None:
        self._by_extension: dict[str, str] = {}
        self._by_name: dict[str, str] = {}
        root = parse(xml)
        if root.tag != f"{_NAMESPACE}Types":
            raise UnsupportedDocumentError(
                "not_an_office_document", "the file is no Office document: its list of contents is none"
            )
        for entry in root:
            self._read(entry)

    def of(self, name: str) -> str:
        """Return what a part is; empty when nothing says so."""
        folded = name.lower()
        by_name = self._by_name.get(f"/{folded}")
        return self._by_extension.get(folded.rpartition(".")[2], "") if by_name is None else by_name

    def _read(self, entry: Element) -> None:
        kind = entry.get("ContentType", "").strip()
        match entry.tag:
            case str(tag) if tag == f"{_NAMESPACE}Default":
                known, name = self._by_extension, entry.get("Extension", "").lower()
            case str(tag) if tag == f"{_NAMESPACE}Override":
                known, name = self._by_name, entry.get("PartName", "").lower()
            case _:
                return
        # Two words for one part: which of them counts is every program's own idea. Of pictures they are common.
        before = known.get(name, kind)
        if before != kind and not (before.startswith("image/") and kind.startswith("image/")):
            raise UnsupportedDocumentError("unsafe_package", f"the file says two things of what {name!r} is")
        known[name] = kind


def is_xml(name: str, kind: str, head: bytes) -> bool:
    """Tell whether a part is XML: because it says so, is named so, or begins so."""
    is_called_so = (
        name.lower().endswith((".xml", ".rels", ".vml", ".svg"))
        or _XML.fullmatch(kind.partition(";")[0].strip().lower()) is not None
    )
    # Apple keeps the settings of printers in XML of its own, with a DTD; nobody else reads it.
    begins_so = head.lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n").startswith(b"<") and not kind.endswith("printerSettings")
    return is_called_so or begins_so


def check_kind(name: str, kind: str) -> None:
    """Refuse macros, objects of other programs and pages of the web, by what a part says it is and by its name."""
    if _MACROS.search(kind) or _MACRO_NAMES.search(f"/{name}"):
        raise _has_macros(name)
    if _OBJECTS.search(kind) or _OBJECT_NAMES.search(f"/{name}"):
        raise _has_object(name)


def check_head(name: str, head: bytes) -> None:
    """Refuse what is a program or an object of one by its first bytes, whatever it says it is."""
    if head.startswith((_COMPOUND, *_PROGRAMS)):
        raise _has_object(name)


def format_of(kind: str) -> Format:
    """Return the format of the file whose main part is of this kind."""
    found = _MAIN.get(kind)
    if found is not None:
        return found
    if "macroenabled" in kind.lower():
        raise UnsupportedDocumentError("macros", "the file may hold macros; save it as .docx, .xlsx or .pptx")
    if kind in _TEMPLATES:
        raise UnsupportedDocumentError("template", "the file is a template or a show; save it as .docx, .xlsx or .pptx")
    raise UnsupportedDocumentError(
        "not_an_office_document", f"the file is no Word, Excel or PowerPoint document but {kind or 'something'!r}"
    )


def check_root(format: Format, xml: bytes | bytearray, *, is_strict: bool) -> None:
    """Refuse a main part that is not what it says."""
    tag = _root_tag(xml)
    if tag == (_STRICT_ROOTS if is_strict else _ROOTS)[format]:
        return
    if tag.startswith(_STRICT) != is_strict:
        # Who reads it by one of them would see another file than who reads it by the other.
        raise UnsupportedDocumentError(
            "strict_format", f"only a half of the file is Strict Open XML; save it as an ordinary .{format}"
        )
    raise UnsupportedDocumentError("not_an_office_document", f"the file says it is a {format} but its content is not")


def _root_tag(xml: bytes | bytearray) -> str:
    parser = etree.XMLPullParser(("start",), resolve_entities=False, no_network=True, load_dtd=False)
    for at in range(0, len(xml), 4096):
        parser.feed(bytes(xml[at : at + 4096]))
        for _, element in parser.read_events():
            return str(element.tag)
    return ""


def _has_macros(name: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("macros", f"the file holds macros ({name!r}); save it without")


def _has_object(name: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError(
        "embedded_object", f"the file holds an object of another program ({name!r}); remove it"
    )
