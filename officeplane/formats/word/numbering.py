"""Numbering: lists with bullets and lists that count, as `numbering.xml` knows them."""

from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.word.names import W, child, element, value, w
from officeplane.formats.xml import Element

_CONTENT_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml"
_PART: Final = "word/numbering.xml"
_EMPTY: Final = f'<w:numbering xmlns:w="{W}"/>'.encode()
_ABSTRACT: Final = w("abstractNum")
_NUM: Final = w("num")
_NUM_ID: Final = w("numId")
_ABSTRACT_ID: Final = w("abstractNumId")
# By these numbers our own two kinds of lists are found again.
_BULLETS: Final = "4F504C31"
_COUNTED: Final = "4F504C32"
_LEVELS: Final = 9
_SIGNS: Final = ("\u2022", "\u25e6", "\u25aa")
_FORMATS: Final = ("decimal", "lowerLetter", "lowerRoman")
DEPTH_MAX: Final = _LEVELS - 1


class Numbering:
    """The lists of one document."""

    def __init__(self, package: Package, document_part: str) -> None:
        self._package = package
        self._document_part = document_part

    def bullets(self) -> str:
        """Return the number of the list for all bullets."""
        root, part = self._root()
        abstract = self._abstract(root, _BULLETS)
        for num in root.iterchildren(_NUM):
            if value(num, "abstractNumId") == abstract:
                return num.get(_NUM_ID, "")
        return self._num(root, part, abstract, None)

    def counted(self, depth: int, start: int) -> str:
        """Return the number of a new list that begins to count at a depth, from `start` on."""
        root, part = self._root()
        return self._num(root, part, self._abstract(root, _COUNTED), (depth, start))

    def copied(self, abstract: Element, num: Element, nsid: str) -> str:
        """Return the number of a new list like one of another document, whose copies these are."""
        root, part = self._root()
        known = [one.get(_ABSTRACT_ID) for one in root.iterchildren(_ABSTRACT)]
        number = str(max((_number(one) for one in known), default=-1) + 1)
        abstract.set(_ABSTRACT_ID, number)
        own = abstract.find(w("nsid"))
        if own is None:
            own = element("nsid")
            abstract.insert(0, own)
        # Lists that have it in common are one for Word.
        own.set(w("val"), nsid)
        before = [*root.iterchildren(_ABSTRACT)]
        if before:
            before[-1].addnext(abstract)
        else:
            root.insert(0, abstract)
        made = self._num(root, part, number, None)
        added = next(one for one in root.iterchildren(_NUM) if one.get(_NUM_ID) == made)
        added.extend(num.findall(w("lvlOverride")))
        return made

    def _root(self) -> tuple[Element, str]:
        arrows = Relationships(self._package, self._document_part)
        for arrow in arrows.of_type("numbering"):
            if arrow.target in self._package:
                return self._package.tree(arrow.target), arrow.target
        self._package.put(_PART, _EMPTY)
        declare(self._package, _PART, _CONTENT_TYPE)
        arrows.add("numbering", _PART)
        return self._package.tree(_PART), _PART

    def _abstract(self, root: Element, nsid: str) -> str:
        last: Element | None = None
        numbers = [-1]
        for abstract in root.iterchildren(_ABSTRACT):
            if value(abstract, "nsid") == nsid:
                return abstract.get(_ABSTRACT_ID, "")
            last = abstract
            numbers.append(_number(abstract.get(_ABSTRACT_ID)))
        made = element("abstractNum", abstractNumId=str(max(numbers) + 1))
        child(made, "nsid", val=nsid)
        child(made, "multiLevelType", val="hybridMultilevel")
        for level in range(_LEVELS):
            _fill_level(child(made, "lvl", ilvl=str(level)), level, is_counted=nsid == _COUNTED)
        first_num = root.find(_NUM)
        if last is not None:
            last.addnext(made)
        elif first_num is not None:
            first_num.addprevious(made)
        else:
            root.append(made)
        return made.get(_ABSTRACT_ID, "")

    def _num(self, root: Element, part: str, abstract: str, restarted: tuple[int, int] | None) -> str:
        nums = list(root.iterchildren(_NUM))
        number = str(max((_number(num.get(_NUM_ID)) for num in nums), default=0) + 1)
        made = element("num", numId=number)
        child(made, "abstractNumId", val=abstract)
        if restarted is not None:
            depth, start = restarted
            child(child(made, "lvlOverride", ilvl=str(depth)), "startOverride", val=str(start))
        if nums:
            nums[-1].addnext(made)
        else:
            list(root.iterchildren(_ABSTRACT))[-1].addnext(made)
        self._package.changed(part)
        return number


def _fill_level(made: Element, level: int, *, is_counted: bool) -> None:
    child(made, "start", val="1")
    child(made, "numFmt", val=_FORMATS[level % 3] if is_counted else "bullet")
    child(made, "lvlText", val=f"%{level + 1}." if is_counted else _SIGNS[level % 3])
    child(made, "lvlJc", val="left")
    child(child(made, "pPr"), "ind", left=str(720 + 360 * level), hanging="360")


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0
