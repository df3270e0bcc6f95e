"""Rewriting: another text for a paragraph, of which what begins and ends alike keeps its runs as they are.

Old and new are compared letter by letter. The stretch between what both begin and end
with goes, in whole leaves; new runs take its place in the formatting that it had. What
goes with it without being text is told as a loss.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.blocks import Line, Note, Picture
from officeplane.formats.links import Links
from officeplane.formats.word.brought import Brought
from officeplane.formats.word.insets import insets_of, outermost
from officeplane.formats.word.line_writer import as_text
from officeplane.formats.word.names import R_PR, SDT, SPACE, R, element, hyperlink, w
from officeplane.formats.word.nodes.leaves import Leaf, fields, marks_of
from officeplane.formats.word.nodes.letters import Look, bare, letters_of, look_of, part_of, pictures_in, told_in
from officeplane.formats.word.nodes.run_formats import base_of, new_run, run_of, without_style
from officeplane.formats.word.segments import unbind
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

_LINK: Final = w("hyperlink")
_SPLIT: Final = frozenset((_LINK, w("ins"), w("moveTo")))
_SHELLS: Final = frozenset((R, *_SPLIT, w("smartTag"), w("fldSimple")))
_NO_CONTENT: Final = frozenset((R_PR, w("smartTagPr")))


@dataclass(frozen=True, slots=True)
class Old:
    """The line of a paragraph as it is compared: its leaves, and how each letter looks, if that is compared."""

    leaves: list[Leaf]
    looks: Line | None

    def says(self, new: Line) -> bool:
        """Tell whether a line is what it says already."""
        return _stretch(self, new) is None and self.told == told_in(new)

    @property
    def told(self) -> list[str]:
        """What is told of each picture in it."""
        return told_in(self.looks or ())


class Rewriting:
    """Writes lines into paragraphs of one part; `target_of` tells where a link leads."""

    def __init__(
        self, links: Links, target_of: Callable[[Element], str | None], styles: Styles, brought: Brought
    ) -> None:
        self._brought = brought
        self._links = links
        self._target_of = target_of
        self._styles = styles

    def write(self, paragraph: Element, old: Old, new: Line, node_id: str) -> list[Loss]:
        """Have a paragraph say something else; return what is lost with what it said."""
        stretch = _stretch(old, new)
        if stretch is None:
            self._brought.describe_kept(paragraph, pictures_in(new))
            return []
        before = list(outermost(insets_of(paragraph)))
        begin, end, spans = _widened(old.leaves, *stretch, new)
        self._replace(paragraph, old, begin, end, spans)
        self._brought.describe_kept(paragraph, pictures_in(new))
        left = {inset.element for inset in insets_of(paragraph)}
        return [Loss(inset.kind, node_id, inset.name) for inset in before if inset.element not in left]

    def fill(self, paragraph: Element, line: Line, base: Element | None, *, is_exact: bool) -> None:
        """Have a paragraph without a text say something in a formatting."""
        gap = element("r")
        paragraph.append(gap)
        self._fill(gap, line if is_exact else bare(line), base, None, is_exact=is_exact)
        paragraph.remove(gap)

    def _replace(self, paragraph: Element, old: Old, begin: int, end: int, spans: Line) -> None:
        line = old.leaves
        gone, gap, like = _taken(paragraph, line, begin, end)
        controls = {control for one in (gap, *(leaf.element for leaf in gone)) for control in one.iterancestors(SDT)}
        around = next(gap.iterancestors(_LINK), None)
        run = None if like is None else run_of(like.element)
        base = base_of(run, paragraph)
        is_exact = old.looks is not None
        within = around if not is_exact and around is not None and _is_inside(around, line, begin, end) else None
        self._brought.let_go(leaf.element for leaf in gone)
        for leaf in gone:
            holder = leaf.element.getparent()
            if holder is not None:
                holder.remove(leaf.element)
                drop_empty(holder, paragraph)
        self._fill(gap, spans if is_exact else bare(spans), base, within, is_exact=is_exact)
        drop_empty(gap, paragraph)
        for control in controls:
            unbind(control)

    def _fill(self, gap: Element, spans: Line, base: Element | None, within: Element | None, *, is_exact: bool) -> None:
        plain = without_style(base, self._styles.find("character", "Hyperlink"))
        for each in spans:
            span = each
            if isinstance(span, Picture | Note):
                inset = self._brought.run(span)
                if inset is not None:
                    _lift(gap)
                    gap.addprevious(inset)
                    continue
                span = as_text(span)
            around = next(gap.iterancestors(_LINK), None)
            here = None if around is None else self._target_of(around)
            if around is not None and (around is within or (span.link is not None and here == span.link)):
                gap.addprevious(new_run(span, base, is_exact=is_exact, link_style=None))
                continue
            _lift(gap)
            arrow = None if span.link is None else self._links.to(span.link)
            if arrow is None:
                gap.addprevious(new_run(span, plain, is_exact=is_exact, link_style=None))
            else:
                holder = hyperlink(element("p"), arrow)
                holder.append(new_run(span, plain, is_exact=is_exact, link_style=self._styles.hyperlink()))
                gap.addprevious(holder)


def _widened(line: Sequence[Leaf], begin: int, end: int, new_end: int, new: Line) -> tuple[int, int, Line]:
    """Return a stretch that cuts no field and nothing that is one leaf, and what is to be there."""
    whole = [(leaf.begin, leaf.end) for leaf in line if not leaf.is_text and len(leaf.text) > 1]
    whole += [(line[one.first].begin, line[one.last].end) for one in fields(line)[0] if not one.is_link]
    is_wider = True
    while is_wider:
        is_wider = False
        for one, other in whole:
            is_cut = one < end and begin < other if end > begin else one < begin < other
            if is_cut and (one < begin or other > end):
                new_end += max(other - end, 0)
                begin, end = min(begin, one), max(end, other)
                is_wider = True
    # What both begin with is as long in the one as in the other.
    return begin, end, part_of(new, begin, new_end)


def _stretch(old: Old, new: Line) -> tuple[int, int, int] | None:
    """Return where old and new begin to differ and where that ends in each, or None when they do not."""
    one = _letters(old)
    other = [(char, None if old.looks is None else look_of(span)) for span in new for char in letters_of(span)]
    if one == other:
        return None
    begin = 0
    while begin < min(len(one), len(other)) and one[begin] == other[begin]:
        begin += 1
    behind = 0
    while behind < min(len(one), len(other)) - begin and one[-1 - behind] == other[-1 - behind]:
        behind += 1
    return begin, len(one) - behind, len(other) - behind


def _letters(old: Old) -> list[tuple[str, Look | None]]:
    if old.looks is not None:
        return [(char, look_of(span)) for span in old.looks for char in letters_of(span)]
    return [(char, None) for leaf in old.leaves for char in leaf.text]


def _taken(paragraph: Element, line: list[Leaf], begin: int, end: int) -> tuple[list[Leaf], Element, Leaf | None]:
    """Return the leaves of a stretch, an empty run where they begin, and the leaf that new text looks like."""
    gap = element("r")
    if begin == end:
        return [], gap, _opened(paragraph, line, begin, gap)
    for at in (begin, end):
        cut = next((leaf for leaf in line if leaf.begin < at < leaf.end), None)
        if cut is not None:
            _cut_leaf(cut, line, at)
    inside = [at for at, leaf in enumerate(line) if leaf.text and begin <= leaf.begin and leaf.end <= end]
    first, last = inside[0], inside[-1]
    like = next((line[at] for at in inside if line[at].is_text), None)
    found, half = fields(line)
    for one in found:
        shown = line[one.first].begin, line[one.last].end
        if not one.is_link and shown[0] < shown[1] and begin <= shown[0] and shown[1] <= end:
            first, last = min(first, one.first), max(last, one.last)
    if any(first <= at <= last for at in half):
        raise InvalidEditError(
            "the text that changes holds the beginning or the end of a field that reaches out of the paragraph, such "
            "as a table of contents: edit it in Word, or give what stands before and behind that as it is"
        )
    gone = [leaf for leaf in line[first : last + 1] if not leaf.stays]
    for one in found:
        if one.is_link and (first <= one.first <= last or first <= one.last <= last):
            gone += [leaf for leaf in marks_of(line, one) if leaf not in gone]
    _put_before(line[first].element, gap)
    return gone, gap, like


def _opened(paragraph: Element, line: list[Leaf], begin: int, gap: Element) -> Leaf | None:
    """Put an empty run between two letters, or where there are none; return the leaf that new text looks like."""
    cut = next((leaf for leaf in line if leaf.begin < begin < leaf.end), None)
    if cut is not None:
        _cut_leaf(cut, line, begin)
    before = next((leaf for leaf in reversed(line) if leaf.text and leaf.end <= begin), None)
    like = before or next((leaf for leaf in line if leaf.text), None)
    if like is None:
        paragraph.append(gap)
        return None
    at, found = line.index(like), fields(line)[0]
    if before is None:
        _put_before(line[min((one.first for one in found if one.first <= at <= one.last), default=at)].element, gap)
    else:
        ends = [one.last for one in found if one.first <= at < one.last and line[one.last].begin <= begin]
        _put_after(line[max(ends, default=at)].element, gap)
    return like if like.is_text else next((leaf for leaf in line if leaf.is_text), None)


def _cut_leaf(leaf: Leaf, line: list[Leaf], at: int) -> None:
    """Cut a text in two where a letter of the line begins; both stay in their run."""
    kept, rest = leaf.text[: at - leaf.begin], leaf.text[at - leaf.begin :]
    second = element("t")
    second.text = rest
    second.set(SPACE, "preserve")
    leaf.element.text = leaf.text = kept
    leaf.element.set(SPACE, "preserve")
    leaf.element.addnext(second)
    line.insert(line.index(leaf) + 1, Leaf(second, rest, at))


def _put_before(leaf: Element, gap: Element) -> None:
    run = run_of(leaf)
    if run is None:
        leaf.addprevious(gap)
    elif all(before.tag == R_PR for before in leaf.itersiblings(preceding=True)):
        run.addprevious(gap)
    else:
        _split(run, leaf)
        run.addnext(gap)


def _put_after(leaf: Element, gap: Element) -> None:
    run, following = run_of(leaf), leaf.getnext()
    if run is None:
        leaf.addnext(gap)
        return
    if following is not None:
        _split(run, following)
    run.addnext(gap)


def _split(run: Element, leaf: Element) -> None:
    """Move a leaf and what follows it in its run into a run of their own behind it."""
    second = element("r")
    for name, said in run.attrib.items():
        second.set(name, said)
    base = run.find(R_PR)
    if base is not None:
        second.append(deepcopy(base))
    for moved in [leaf, *leaf.itersiblings()]:
        second.append(moved)
    run.addnext(second)


def _is_inside(link: Element, line: Sequence[Leaf], begin: int, end: int) -> bool:
    """Tell whether a stretch lies within one link, so that new text belongs to it."""
    held = [leaf for leaf in line if leaf.text and link in leaf.element.iterancestors(_LINK)]
    if not held:
        return False
    first, last = held[0].begin, held[-1].end
    return first <= begin and end <= last if end > begin else first < begin < last


def drop_empty(shell: Element, paragraph: Element) -> None:
    """Take out a run that holds nothing any more, and links and the like around it of which the same is true then."""
    at = shell
    while at is not paragraph and at.tag in _SHELLS and all(inner.tag in _NO_CONTENT for inner in at):
        parent = at.getparent()
        if parent is None:
            return
        parent.remove(at)
        at = parent


def _lift(gap: Element) -> None:
    """Bring a gap out of links and of what others have inserted; these go on behind it."""
    around = gap.getparent()
    while around is not None and around.tag in _SPLIT:
        rest = element("r")
        rest.tag = around.tag
        for name, said in around.attrib.items():
            rest.set(name, said)
        for moved in list(gap.itersiblings()):
            rest.append(moved)
        around.addnext(gap)
        if len(rest):
            gap.addnext(rest)
        outer = gap.getparent()
        if not len(around) and outer is not None:
            outer.remove(around)
        around = outer
