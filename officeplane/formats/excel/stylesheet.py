"""The part in which a workbook keeps its formats: lists whose entries are named by number, each kept once."""

from typing import Final, TypeAlias

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.number_formats import BUILT_IN, codes_in, styles_part
from officeplane.formats.excel.tags import MAIN, main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.xml import Element

FONTS: Final = main("fonts")
FILLS: Final = main("fills")
BORDERS: Final = main("borders")
NUMBER_FORMATS: Final = main("numFmts")
NAMED_FORMATS: Final = main("cellStyleXfs")
CELL_FORMATS: Final = main("cellXfs")
NAMES: Final = main("cellStyles")
DIFFERENCES: Final = main("dxfs")

_ORDER: Final = [
    NUMBER_FORMATS, FONTS, FILLS, BORDERS, NAMED_FORMATS, CELL_FORMATS, NAMES, DIFFERENCES, main("tableStyles"),
    main("colors"), main("extLst"),
]  # fmt: skip
_OWN_MIN: Final = 164
"""Numbers of formats below it are Excel's own."""
_CODES_MAX: Final = 65_535
_KIND: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"
_FEWEST: Final = (
    f'<styleSheet xmlns="{MAIN}">'
    '<fonts count="1"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    "</styleSheet>"
)
Shape: TypeAlias = tuple[object, ...]


class Stylesheet:
    """The lists of formats; a list or a part that is not there is made when something is added."""

    def __init__(self, package: Package, workbook: str) -> None:
        self._package = package
        self._workbook = workbook
        self._part = styles_part(package, workbook)
        self._lists: dict[str, _Kept] = {}

    def entries(self, tag: str) -> list[Element]:
        """Return the entries of a list, in the order in which they are numbered; none when it is not there."""
        root = None if self._part is None else self._package.tree(self._part)
        found = None if root is None else root.find(tag)
        return [] if found is None else self._kept(tag, found).entries

    def entry(self, tag: str, number: int) -> Element | None:
        """Return an entry as it is for everybody, if there is one of this number."""
        entries = self.entries(tag)
        return plain(entries[number]) if 0 <= number < len(entries) else None

    def number_of(self, tag: str, entry: Element) -> int | None:
        """Return the number of an entry that is the same as this one."""
        root = None if self._part is None else self._package.tree(self._part)
        found = None if root is None else root.find(tag)
        return None if found is None else self._kept(tag, found).number_of(entry)

    def put(self, tag: str, entry: Element) -> int:
        """Return the number of an entry, which is added if there is none like it."""
        root = self._made()
        found = root.find(tag)
        if found is None:
            found = etree.Element(tag)
            before = [child for child in root if child.tag in _ORDER[: _ORDER.index(tag)]]
            root.insert(root.index(before[-1]) + 1 if before else 0, found)
        kept = self._kept(tag, found)
        number = kept.number_of(entry)
        if number is None:
            number = kept.add(entry)
            self._package.changed(self._made_part())
        return number

    def number_of_code(self, code: str) -> int:
        """Return the number of a number format, which is added if no format is the same."""
        own = {} if self._part is None else codes_in(self._package.tree(self._part))
        for number, each in {**BUILT_IN, **own}.items():
            if each == code:
                return number
        number = max(*own, _OWN_MIN - 1, 0) + 1
        if number > _CODES_MAX:
            raise InvalidEditError("the workbook has as many number formats as Excel can keep")
        self.put(NUMBER_FORMATS, etree.Element(main("numFmt"), numFmtId=str(number), formatCode=code))
        return number

    def _kept(self, tag: str, holder: Element) -> "_Kept":
        kept = self._lists.get(tag)
        if kept is None or kept.holder is not holder or kept.length != len(holder):
            kept = self._lists[tag] = _Kept(holder)
        return kept

    def _made(self) -> Element:
        return self._package.tree(self._made_part())

    def _made_part(self) -> str:
        if self._part is None:
            # Some programs look for it under this name and no other.
            folder = self._workbook.rpartition("/")[0]
            names = (f"{folder}/styles{number}.xml".lstrip("/") for number in ("", *range(1, 1_000)))
            part = next(name for name in names if name not in self._package)
            self._package.put(part, f"<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n{_FEWEST}".encode())
            declare(self._package, part, _KIND)
            Relationships(self._package, self._workbook).add("styles", part)
            self._part = part
        return self._part


class _Kept:
    """One list, and which entry is where."""

    def __init__(self, holder: Element) -> None:
        self.holder = holder
        self.length = len(holder)
        self.entries = [child for child in holder if isinstance(child.tag, str)]
        self._numbers: dict[Shape, int] | None = None

    def number_of(self, entry: Element) -> int | None:
        if self._numbers is None:
            self._numbers = {}
            for number, each in enumerate(self.entries):
                self._numbers.setdefault(shape(plain(each)), number)
        return self._numbers.get(shape(entry))

    def add(self, entry: Element) -> int:
        entry.tail = None
        self.holder.append(entry)
        self.length += 1
        self.entries.append(entry)
        self.holder.set("count", str(len(self.entries)))
        if self._numbers is not None:
            self._numbers[shape(entry)] = len(self.entries) - 1
        return len(self.entries) - 1


def plain(entry: Element) -> Element:
    """Return the entry itself where a program wrote two of them, one for itself and one for others."""
    if entry.tag != _CHOICE:
        return entry
    return next((inner for inner in entry.iterfind("{*}Fallback/*") if isinstance(inner.tag, str)), entry)


def shape(entry: Element) -> Shape:
    """Return what makes an entry what it is: equal for two that say the same, in whatever order."""
    held = sorted((shape(child) for child in entry if isinstance(child.tag, str)), key=repr)
    return (entry.tag, (entry.text or "").strip(), tuple(sorted(entry.attrib.items())), *held)


_CHOICE: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
