"""Carrying: copies of an upload's paragraphs and tables as the head's file can hold them.

Styles are found by their names, lists by the paragraphs that are in them, pictures by their bytes. What is missing is
brought along. Charts, shapes and the ends of sections are the head's own, where it has the same; whatever else
refers to something cannot be carried.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from hashlib import sha256
from typing import Final

from officeplane.formats.merging.carrying import CannotCarryError, carry_relations
from officeplane.formats.word.block import Block
from officeplane.formats.word.merging.by_look import ByLook, picture_in
from officeplane.formats.word.merging.context import Context
from officeplane.formats.word.merging.marks import keep_marks
from officeplane.formats.word.merging.telling import drawn_in
from officeplane.formats.word.names import (
    ALTERNATIVES,
    FALLBACK,
    ID,
    P_PR,
    PARA_ID,
    SDT,
    SECT_PR,
    TR,
    VAL,
    P,
    element_name,
    value,
    w,
)  # fmt: skip
from officeplane.formats.word.numbering import Numbering
from officeplane.formats.xml import Element

_STYLED: Final = {w("pStyle"): "paragraph", w("rStyle"): "character", w("tblStyle"): "table"}
_REFUSED: Final = {
    **dict.fromkeys(map(w, ("object", "control", "contentPart")), "an embedded object"),
    **dict.fromkeys(map(w, ("altChunk", "subDoc")), "an inserted document"),
    **dict.fromkeys(map(w, ("permStart", "permEnd")), "a stretch that only some may edit"),
    **{
        w(f"{kind}Range{end}"): "text that was moved as a tracked change"
        for kind in ("moveFrom", "moveTo", "customXmlIns", "customXmlDel", "customXmlMoveFrom", "customXmlMoveTo")
        for end in ("Start", "End")
    },
}  # fmt: skip
_NOTES: Final = (w("footnoteReference"), w("endnoteReference"))
_DRAWN: Final = (w("drawing"), w("pict"), w("object"))
_CHANGES: Final = frozenset(
    w(name)
    for name in (
        "ins", "del", "moveFrom", "moveTo", "rPrChange", "pPrChange", "tblPrChange", "tblGridChange", "tblPrExChange",
        "trPrChange", "tcPrChange", "numberingChange", "cellIns", "cellDel", "cellMerge", "sectPrChange",
    )
)  # fmt: skip
_TEXT_ID: Final = PARA_ID.replace("paraId", "textId")
_NUM_ID: Final = w("numId")
_NO_LIST: Final = "0"


class Carrying:
    """Copies what an upload says into the head; `fresh_id` tells apart what is brought along."""

    def __init__(self, upload: Context, head: Context, fresh_id: Callable[[str], str]) -> None:
        self._upload = upload
        self._head = head
        self._fresh_id = fresh_id
        self._styles: dict[str, str] = {}
        self._lists: dict[str, str] = {name: number for number, name in reversed([*head.lists.items()])}
        self.brought: dict[str, str] = {}
        """What the lists are called that were brought along, by their numbers in the head."""
        self._numbers = max(
            (_whole(one.get(ID)) for one in head.body.story.root.iter() if one.tag in _CHANGES), default=0
        )
        known = (one.get("id") for story in head.stories.all() for one in story.root.iter("{*}docPr"))
        self._drawings = max(map(_whole, known), default=0)

    def carried(self, elements: Sequence[Element], before: Sequence[Element]) -> list[Element]:
        """Return copies of elements that may come in place of others, or of nothing."""
        copies = [deepcopy(one) for one in elements]
        for one in copies:
            one.tail = None
        self._refuse(copies, before)
        self._name(copies, before)
        self._keep_sections(copies, before)
        self._keep_drawings(copies, elements, before)
        for copy in copies:
            self._style(copy)
            self._number(copy)
        keep_ids = _has_title(copies, self._head) == _has_title(before, self._head)
        keep_marks(copies, before, self._head.body.story.root, keep_ids=keep_ids)
        return copies

    def _refuse(self, copies: Sequence[Element], before: Sequence[Element]) -> None:
        known = {(one.tag, one.get(ID)) for top in before for one in top.iter(*_NOTES)}
        for one in (one for top in copies for one in top.iter()):
            if one.tag in _REFUSED:
                message = f"it has {_REFUSED[str(one.tag)]} in it, which cannot be carried over"
                raise CannotCarryError(message)
            if one.tag in _NOTES and (one.tag, one.get(ID)) not in known:
                message = "it has a new note, which cannot be carried over: add the note to the document as it is now"
                raise CannotCarryError(message)

    def _name(self, copies: Sequence[Element], before: Sequence[Element]) -> None:
        """Have paragraphs and rows keep the ids that they have in the head; the others are named as new ones."""
        free = {one.get(PARA_ID, "") for top in before for one in top.iter(P, TR)} - {""}
        for one in [one for top in copies for one in top.iter(P, TR)]:
            number = one.attrib.pop(PARA_ID, "")
            one.attrib.pop(_TEXT_ID, None)
            if number in free:
                free.discard(str(number))
                one.set(PARA_ID, str(number))
        first, known = copies[0], before[0] if before else None
        if known is not None and first.tag == P == known.tag and known.get(PARA_ID):
            first.set(PARA_ID, known.get(PARA_ID, ""))
        controls = {_control_id(one) for top in before for one in top.iter(SDT)}
        for control in [one for top in copies for one in top.iter(SDT)]:
            if _control_id(control) not in controls:
                for properties in control.iterchildren(w("sdtPr")):
                    for own in properties.findall(ID):
                        properties.remove(own)
        for one in [one for top in copies for one in top.iter() if one.tag in _CHANGES]:
            self._numbers += 1
            one.set(ID, str(self._numbers))

    def _keep_sections(self, copies: Sequence[Element], before: Sequence[Element]) -> None:
        """Have the ends of sections be the head's: their paper and headers are nothing that paragraphs bring along."""
        there, here = ([one for top in tops for one in top.iter(SECT_PR) if _is_end(one)] for tops in (copies, before))
        if len(there) != len(here):
            message = "the end of a section came or went with it: set pages up in the document as it is now"
            raise CannotCarryError(message)
        for one, known in zip(there, here, strict=True):
            parent = one.getparent()
            if parent is not None:
                parent.replace(one, deepcopy(known))

    def _keep_drawings(self, copies: Sequence[Element], elements: Sequence[Element], before: Sequence[Element]) -> None:
        """Have what is drawn be the head's where that is alike; new pictures come along."""
        told = (ByLook(self._upload), ByLook(self._head))
        known: dict[str, list[Element]] = {}
        for one in _drawn(before):
            known.setdefault(told[1].drawn(one), []).append(_with_alternatives(one))
        pairs = [*zip(_drawn(elements), _drawn(copies), strict=True)]
        for original, copy in pairs:
            alike = known.get(told[0].drawn(original))
            whole = _with_alternatives(copy)
            parent = whole.getparent()
            if alike and parent is not None:
                parent.replace(whole, deepcopy(alike.pop(0)))
                continue
            if picture_in(copy) is None or whole is not copy:
                message = "it has a new or changed chart, shape or diagram in it, which cannot be carried over"
                raise CannotCarryError(message)
            carry_relations(copy, self._upload.arrows, self._upload.package, self._head.package, self._head.part)
            self._drawings += 1
            for about in (one for one in copy.iter() if element_name(one) == "docPr"):
                about.set("id", str(self._drawings))
        links = [one for top in copies for one in top.iter(w("hyperlink"))]
        for link in links:
            held = [*link]
            link[:] = []
            carry_relations(link, self._upload.arrows, self._upload.package, self._head.package, self._head.part)
            link[:] = held

    def _style(self, copy: Element) -> None:
        for one in copy.iter(*_STYLED):
            one.set(VAL, self._style_in_head(one.get(VAL, ""), _STYLED[str(one.tag)]))

    def _style_in_head(self, style_id: str, kind: str) -> str:
        """Return what the head calls a style; one that it does not have is brought along with those it is based on."""
        styles = self._head.styles
        name = self._upload.styles.name(style_id)
        if style_id not in self._styles:
            original = next(iter(self._upload.styles.chain(style_id)), None)
            known = styles.find(kind, name)
            if known is None and original is None:
                message = f"its style {style_id!r} is none of the upload"
                raise CannotCarryError(message)
            if known is not None or original is None:
                self._styles[style_id] = known or ""
            else:
                held = self._definition(original, kind)
                self._styles[style_id] = styles.find_or_make(kind, name, style_id, lambda made: _fill(made, held))
        return self._styles[style_id]

    def _definition(self, original: Element, kind: str) -> list[Element]:
        """Return what a style consists of, as the head can hold it."""
        held: list[Element] = []
        for one in original:
            name = element_name(one)
            if name in {"link", "next", "rsid"} or not name:
                continue
            copy = deepcopy(one)
            copy.tail = None
            if name == "basedOn":
                copy.set(VAL, self._style_in_head(one.get(VAL, ""), kind))
            if next(copy.iter(w("numPr")), None) is not None:
                message = f"its style {value(original, 'name')!r} is new and belongs to a list"
                raise CannotCarryError(message)
            held.append(copy)
        return held

    def _number(self, copy: Element) -> None:
        for one in copy.iter(_NUM_ID):
            number = one.get(VAL, "")
            if number != _NO_LIST:
                one.set(VAL, self._list_in_head(number))

    def _list_in_head(self, number: str) -> str:
        name = self._upload.list_named(number)
        if name not in self._lists:
            self._lists[name] = self._bring_list(number)
            self.brought[self._lists[name]] = name
        return self._lists[name]

    def _bring_list(self, number: str) -> str:
        abstract, num = self._upload.abstracts.get(number), self._upload.nums.get(number)
        if abstract is None or num is None:
            message = "it is in a list that the upload does not have"
            raise CannotCarryError(message)
        if any(one.tag in {w("numStyleLink"), w("styleLink"), w("lvlPicBulletId")} for one in abstract.iter()):
            message = "it is in a new list that refers to a style or to pictures"
            raise CannotCarryError(message)
        copy = deepcopy(abstract)
        for one in [*copy.iter(w("pStyle"))]:
            parent = one.getparent()
            if parent is not None:
                parent.remove(one)
        nsid = sha256(self._fresh_id("list").encode()).hexdigest()[:8].upper()
        return Numbering(self._head.package, self._head.part).copied(copy, deepcopy(num), nsid)


def _drawn(elements: Sequence[Element]) -> list[Element]:
    found: list[Element] = []
    for top in elements:
        for one in top.iter(*_DRAWN, ALTERNATIVES):
            around = next(one.iterancestors(*_DRAWN, ALTERNATIVES, FALLBACK), None)
            if around is None:
                found += drawn_in(one)
    return found


def _with_alternatives(drawn: Element) -> Element:
    """Return what is drawn with the form of it that older programs show."""
    return next(drawn.iterancestors(ALTERNATIVES), drawn)


def _fill(made: Element, held: Sequence[Element]) -> None:
    made[:] = held


def _is_end(section: Element) -> bool:
    parent = section.getparent()
    return parent is not None and parent.tag == P_PR


def _has_title(elements: Sequence[Element], context: Context) -> bool:
    return bool(elements) and Block(elements[0], context.styles).level > 0


def _control_id(control: Element) -> str | None:
    return value(control.find(w("sdtPr")), "id")


def _whole(said: str | None) -> int:
    return int(said) if said is not None and said.isdecimal() else 0
