"""Timing: the animations of a slide, taken out or turned to where their paragraphs are now."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from officeplane.formats.powerpoint.animations import ANIMATION, PARAGRAPHS, animated, targets
from officeplane.formats.powerpoint.insets import Inset
from officeplane.formats.powerpoint.names import attribute_number, p
from officeplane.formats.xml import Element

_LISTS: Final = frozenset({p("childTnLst"), p("subTnLst")})
_ROOTS: Final = p("tnLst")
_SEQUENCE: Final = p("seq")
_CONDITION: Final = p("cond")


def take_out_shapes(root: Element, numbers: Collection[str]) -> int:
    """Take out the animations of shapes, and what a click on them begins; return how many things were animated."""
    lost = len(animated(root, numbers))
    _take_out(root, lambda target: target.get("spid", "") in numbers, numbers)
    return lost


def follow_paragraphs(root: Element, number: str, places: Mapping[int, int]) -> list[Inset]:
    """Turn the animations of a shape's paragraphs to where these are now; return those of paragraphs that are gone."""
    lost: dict[Inset, None] = {}
    doomed: set[Element] = set()
    for target in targets(root):
        if target.get("spid") != number or target.find(p("txEl")) is None:
            continue
        span = target.find(PARAGRAPHS)
        begin, end = (0, -1) if span is None else (attribute_number(span, "st", 0), attribute_number(span, "end", 0))
        now = [places[each] for each in sorted(places) if begin <= each <= end]
        if span is None or not now:
            lost[Inset(ANIMATION, "of letters" if span is None else f"of paragraph {end + 1}")] = None
            doomed.add(target)
            continue
        span.set("st", str(min(now)))
        span.set("end", str(max(now)))
    if doomed:
        _take_out(root, doomed.__contains__, {number})
    return list(lost)


def _take_out(root: Element, is_doomed: Callable[[Element], bool], numbers: Collection[str]) -> None:
    """Take out what is aimed so, and how shapes of these numbers are built up that nothing is aimed at then."""
    for target in [target for target in targets(root) if is_doomed(target)]:
        _take(_node_of(target))
    left = {target.get("spid", "") for target in targets(root)}
    gone = {*numbers} - left
    for built in [each for lists in root.iter(p("bldLst")) for each in lists if each.get("spid", "") in gone]:
        _drop(built)
    for builds in [each for each in root.iter(p("bldLst")) if len(each) == 0]:
        _drop(builds)
    for timing in [each for each in root.iter(p("timing")) if each.find(_ROOTS) is None]:
        _drop(timing)


def _node_of(target: Element) -> Element:
    """Return the step of the animation that a target belongs to; all that a click on the target begins."""
    around = [target, *target.iterancestors()]
    if any(each.tag == _CONDITION for each in around):
        for each in around:
            if each.tag == _SEQUENCE and any(
                clock.get("nodeType") == "interactiveSeq" for clock in each.iterfind(p("cTn"))
            ):
                return each
    for each in around:
        parent = each.getparent()
        if parent is not None and parent.tag in _LISTS:
            return each
    return target


def _take(node: Element) -> None:
    """Take out a step, and what is empty without it, up to the whole."""
    while True:
        parent = node.getparent()
        if parent is None:
            return
        parent.remove(node)
        if len(parent) or parent.tag not in {*_LISTS, _ROOTS}:
            return
        clock = parent.getparent()
        if parent.tag != p("childTnLst") or clock is None:
            _drop(parent)
            return
        owner = clock.getparent()
        if owner is None:
            return
        node = owner


def _drop(element: Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
