"""Finding: where in a document a text stands, with a few words around it."""

from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple

from officeplane.formats.patterns.matching import Match
from officeplane.formats.reading.detail import Tree
from officeplane.formats.reading.reader import Reader, Searched, found, page_around
from officeplane.formats.reading.room import Part, Room
from officeplane.formats.search import Wanted

_AROUND: Final = 40


class FindWanted(NamedTuple):
    """What to look for, and where."""

    text: str
    match_case: bool = False
    under: str | None = None
    kinds: tuple[str, ...] = ()
    limit: int = 50
    begin: int = 0
    tokens_max: int | None = None
    regex: bool = False


def find(reader: Reader, wanted: FindWanted) -> Part:
    """Return the places at which a text stands, in order, from the one on at which an answer ended."""
    under = None if wanted.under is None else found(reader, wanted.under)
    matches_in = Wanted(wanted.text, wanted.match_case, regex=wanted.regex).finder()
    room = Room(wanted.tokens_max)
    items: list[dict[str, Any]] = []
    at = -1
    for searched in reader.searched(under):
        matches = _spans(searched, matches_in) if wanted.regex else [match.span for match in matches_in(searched.text)]
        if not matches or not _is_of(reader.tree, searched, wanted.kinds):
            continue
        for nth, span in enumerate(matches, 1):
            at += 1
            if at < wanted.begin:
                continue
            item = _told(reader.tree, searched, span, nth, len(matches))
            if len(items) == wanted.limit or not room.takes(item):
                return Part(items, at)
            items.append(item)
    return Part(items, None)


def _spans(searched: Searched, matches_in: Callable[[str], list[Match]]) -> list[tuple[int, int]]:
    paragraphs = searched.paragraphs or ((0, searched.text),)
    return [
        (begin + match.begin, begin + match.end)
        for begin, text in paragraphs
        for match in matches_in(text)
        if begin + match.begin >= 0
    ]


def _is_of(tree: Tree, searched: Searched, kinds: Collection[str]) -> bool:
    """Tell whether a text is in a node of one of these kinds; whatever it is in, if none are named."""
    if not kinds or searched.kind in kinds:
        return True
    around = tree.parents.get(searched.id)
    while around is not None:
        if around.kind in kinds:
            return True
        around = tree.parents.get(around.id)
    return False


def _told(tree: Tree, searched: Searched, span: tuple[int, int], nth: int, of: int) -> dict[str, Any]:
    text, (begin, end) = searched.text, span
    left, right = max(begin - _AROUND, 0), min(end + _AROUND, len(text))
    # Whole words, as far as there are any.
    if left > 0:
        left = next((at + 1 for at in range(left, begin) if text[at].isspace()), left)
    if right < len(text):
        right = next((at for at in range(right, end, -1) if text[at - 1].isspace()), right)
    around = ("…" if left > 0 else "") + " ".join(text[left:right].split()) + ("…" if right < len(text) else "")
    item: dict[str, Any] = {"id": searched.id, "kind": searched.kind, "position": begin, "text": around}
    if of > 1:
        item |= {"nth": nth, "of": of}
    page = page_around(tree, searched)
    if page is not None:
        item["page"] = page
    return item
