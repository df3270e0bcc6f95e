"""Segments: the text of a paragraph as it lies in its runs, read, replaced and split.

A word may be spread over many runs, so places are counted in the paragraph's
whole text and brought back to the elements that hold it. What was deleted under
tracked changes is no text; what was inserted is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Final

from officeplane.formats.patterns.matching import Match
from officeplane.formats.word.names import (
    ALTERNATIVES,
    BR,
    MATH_T,
    P_PR,
    R_PR,
    SDT,
    SPACE,
    TAB,
    P,
    R,
    T,
    child,
    element,
    w,
)  # fmt: skip
from officeplane.formats.xml import Element

_CHARACTERS: Final = {TAB: "\t", w("ptab"): "\t", BR: "\n", w("cr"): "\n", w("noBreakHyphen"): "\u2011"}
_TEXTS: Final = (T, MATH_T)
_HOLDERS: Final = (*_TEXTS, *_CHARACTERS)
_NO_TEXT: Final = (
    w("del"), w("moveFrom"), w("rt"), w("drawing"), w("pict"), w("object"), w("txbxContent"), ALTERNATIVES,
)  # fmt: skip
_CLOSED: Final = frozenset((*_NO_TEXT, P, P_PR, R_PR))
_CONTROL_PR: Final = w("sdtPr")
_BREAKS: Final = re.compile(r"(\r\n|\r|\n|\t)")


@dataclass(slots=True)
class Segment:
    """One element that holds text, and that text."""

    element: Element
    text: str


def text_of(paragraph: Element) -> str:
    """Return the text of a paragraph without that of its text boxes."""
    return "".join(_text(holder) for holder in _holders(paragraph))


def segments(paragraph: Element) -> list[Segment]:
    """Return what a paragraph's text consists of, in order; nothing in it is empty."""
    return [Segment(holder, text) for holder in _holders(paragraph) if (text := _text(holder))]


def replace_matches(paragraph: Element, matches: Sequence[Match], replacements: Sequence[str]) -> None:
    """Replace stretches of a paragraph's text; each new text is formatted as its stretch began."""
    drafts = [_Draft(segment.element, segment.text) for segment in segments(paragraph)]
    begins = _begins(draft.kept for draft in drafts)
    # From right to left, so that what is left of a stretch still stands where it was counted.
    for (begin, end), replacement in zip([one.span for one in reversed(matches)], reversed(replacements), strict=True):
        first = bisect_right(begins, begin) - 1
        last = bisect_right(begins, end - 1) - 1
        drafts[last].cut(end - begins[last])
        for draft in drafts[first + 1 : last]:
            draft.cut(len(draft.kept))
            draft.kept = ""
        if last != first:
            drafts[last].kept = ""
        drafts[first].kept = drafts[first].kept[: begin - begins[first]]
        drafts[first].after.append((replacement, True))
        drafts[first].is_changed = True
    changed = [draft for draft in drafts if draft.is_changed]
    controls = {control for draft in changed for control in draft.element.iterancestors(SDT)}
    for draft in changed:
        draft.write()
    for control in controls:
        unbind(control)


def run_at(paragraph: Element, offset: int) -> Element | None:
    """Return the run whose text begins at an offset, split from what is before; None at the end."""
    parts = segments(paragraph)
    at = bisect_right(_begins(part.text for part in parts), offset) - 1
    if not parts or offset >= sum(len(part.text) for part in parts):
        return None
    part = parts[at]
    run = part.element.getparent()
    within = offset - sum(len(before.text) for before in parts[:at])
    if run is None or run.tag != R:
        return run
    is_first = next((held for held in run.iterchildren() if held.tag in _HOLDERS), None) is part.element
    if within == 0 and is_first:
        return run
    second = element("r")
    properties = run.find(R_PR)
    if properties is not None:
        second.append(deepcopy(properties))
    moved = [part.element, *part.element.itersiblings()]
    if within:
        rest = child(second, "t")
        _set_text(rest, part.text[within:])
        _set_text(part.element, part.text[:within])
        moved = moved[1:]
    for held in moved:
        second.append(held)
    run.addnext(second)
    return second


def fill_run(run: Element, text: str) -> None:
    """Add text at the end of a run; line breaks and tabs become elements."""
    if _BREAKS.search(text) is None:
        if text:
            _set_text(child(run, "t"), text)
        return
    for made in _merged([(text, True)]):
        run.append(made)


def unbind(control: Element) -> None:
    """Have a control keep its text: one bound to data would show these, and a prompt goes with the first key."""
    for properties in control.iterchildren(_CONTROL_PR):
        for said in properties.findall("{*}dataBinding") + properties.findall(w("showingPlcHdr")):
            properties.remove(said)


@dataclass(slots=True)
class _Draft:
    """What an element will hold: what is kept at its beginning, and, from the end on, what comes after."""

    element: Element
    kept: str
    after: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    is_changed: bool = False

    def cut(self, end: int) -> None:
        self.is_changed = True
        self.after.append((self.kept[end:], False))

    def write(self) -> None:
        holder = self.element
        run = holder.getparent()
        if run is None:
            return
        if holder.tag == MATH_T:
            _set_text(holder, self.kept + "".join(_BREAKS.sub(" ", text) for text, _ in reversed(self.after)))
            return
        made = _merged([(self.kept, False), *reversed(self.after)])
        is_kept = holder.tag == T and bool(made) and made[0].tag == T
        if is_kept:
            _set_text(holder, made.pop(0).text or "")
        for one in reversed(made):
            holder.addnext(one)
        if not is_kept:
            run.remove(holder)
        if all(left.tag == R_PR for left in run) and (parent := run.getparent()) is not None:
            parent.remove(run)


def _holders(paragraph: Element) -> Iterator[Element]:
    if next(paragraph.iter(*_NO_TEXT), None) is not None:
        return _walk(paragraph)
    # A tab of the paragraph's properties is a stop, not a character.
    return (holder for holder in paragraph.iter(*_HOLDERS) if holder.tag in _TEXTS or _is_in_run(holder))


def _walk(parent: Element) -> Iterator[Element]:
    for inner in parent:
        if inner.tag in _HOLDERS:
            yield inner
        elif inner.tag not in _CLOSED:
            yield from _walk(inner)


def _is_in_run(holder: Element) -> bool:
    parent = holder.getparent()
    return parent is not None and parent.tag == R


def _text(holder: Element) -> str:
    return holder.text or "" if holder.tag in _TEXTS else _CHARACTERS[str(holder.tag)]


def _begins(texts: Iterable[str]) -> list[int]:
    begins: list[int] = []
    at = 0
    for text in texts:
        begins.append(at)
        at += len(text)
    return begins


def _merged(pieces: Iterable[tuple[str, bool]]) -> list[Element]:
    """Only what is new is taken apart at line breaks: what was there keeps its characters."""
    made: list[Element] = []
    pending = ""
    for text, is_new in pieces:
        for part in _BREAKS.split(text) if is_new else (text,):
            if is_new and _BREAKS.fullmatch(part):
                made += _texts(pending)
                pending = ""
                made.append(element("tab" if part == "\t" else "br"))
            else:
                pending += part
    return made + _texts(pending)


def _texts(text: str) -> list[Element]:
    if not text:
        return []
    made = element("t")
    _set_text(made, text)
    return [made]


def _set_text(holder: Element, text: str) -> None:
    holder.text = text
    if text != text.strip() and holder.get(SPACE) != "preserve":
        holder.set(SPACE, "preserve")
