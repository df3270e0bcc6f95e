"""Lines: what came and went in a paragraph is marked letter by letter, in the runs that there are."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from difflib import SequenceMatcher
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.names import P_PR, R_PR, SDT, SPACE, T, element, w
from officeplane.formats.word.tracking.looks import plain
from officeplane.formats.word.tracking.pencil import Pencil
from officeplane.formats.word.tracking.pieces import COME, GONE, Piece, Shell, Unit, as_tracked, pieces_of, units_of
from officeplane.formats.xml import Element

_COMPARED_MAX: Final = 4_000_000
_DELETED: Final = {T: "delText", w("instrText"): "delInstrText"}
_PROPERTIES: Final = frozenset((w("smartTagPr"), w("customXmlPr"), w("sdtPr"), w("sdtEndPr")))
_OPENING: Final = "Start"


def track_line(pencil: Pencil, now: Element, was: Element) -> None:
    """Mark what came into the line of a paragraph and what went."""
    new, old = pieces_of(now), pieces_of(was)
    line, is_tracked = _merged(pencil, old, new)
    if is_tracked:
        write_line(pencil, now, line)


def insert_line(pencil: Pencil, paragraph: Element) -> None:
    """Mark all that a paragraph says as new."""
    write_line(pencil, paragraph, inserted(pieces_of(paragraph)))


def delete_line(pencil: Pencil, paragraph: Element) -> None:
    """Mark all that a paragraph says as gone; what the same person had inserted is gone."""
    write_line(pencil, paragraph, deleted(pencil, pieces_of(paragraph)))


def inserted(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the line of what is new."""
    made = [*_tracked_fields(pieces)]
    for piece in made:
        if not piece.is_silent:
            _check_insertable(piece)
            piece.deed = "ins"
    return made


def deleted(pencil: Pencil, pieces: Sequence[Piece]) -> list[Piece]:
    """Return the line of what is gone."""
    return [piece for piece in _tracked_fields(pieces) if piece.is_silent or _delete(pencil, piece)]


def write_line(pencil: Pencil, paragraph: Element, line: Sequence[Piece]) -> None:
    """Have a paragraph consist of pieces, each in what is around it and as it came or went."""
    for inner in [inner for inner in paragraph if inner.tag != P_PR]:
        paragraph.remove(inner)
    stack: list[tuple[object, Element]] = [(None, paragraph)]
    run: tuple[object, Element] | None = None
    for piece in line:
        wanted: list[tuple[object, Shell | str]] = [(shell.key, shell) for shell in piece.path]
        wanted += [(piece.deed, piece.deed)] if piece.deed else []
        depth = 1
        while depth < len(stack) and depth <= len(wanted) and stack[depth][0] == wanted[depth - 1][0]:
            depth += 1
        if depth < len(stack) or len(wanted) >= depth:
            run = None
        del stack[depth:]
        for key, shell in wanted[depth - 1 :]:
            stack.append((key, _open(pencil, stack[-1][1], shell)))
        holder = stack[-1][1]
        if piece.run is None:
            holder.append(piece.leaf)
            run = None
            continue
        key = (piece.run, piece.was)
        if run is None or run[0] != key:
            run = key, _run(pencil, piece)
            holder.append(run[1])
        _put(run[1], piece)


def _merged(pencil: Pencil, old: list[Piece], new: list[Piece]) -> tuple[list[Piece], bool]:
    """Return the line that has both, and whether anything in it is tracked."""
    before, after = units_of(old), units_of(new)
    is_tracked = False
    swapped: dict[Piece, list[Piece]] = {}
    gone_before: dict[Piece | None, list[Piece]] = {}
    for kind, i1, i2, j1, j2 in _compared(before, after):
        if kind == "equal":
            is_tracked |= _note_looks(pencil, before[i1:i2], after[j1:j2])
            continue
        is_tracked = True
        for unit in after[j1:j2]:
            pieces = as_tracked(unit)
            for piece in pieces:
                _lift(pencil, piece)
            swapped |= {piece: [] for piece in unit.pieces}
            swapped[unit.pieces[0]] = pieces
        following = after[j1].pieces[0] if j1 < len(after) else None
        gone_before[following] = [
            piece for unit in before[i1:i2] for piece in as_tracked(unit) if _delete(pencil, piece)
        ]
    line: list[Piece] = []
    for piece in new:
        if not piece.is_silent:
            _put_gone(line, gone_before.pop(piece, []), old)
        line += swapped.get(piece, [piece])
    _put_gone(line, gone_before.pop(None, []), old)
    return line, is_tracked


def _note_looks(pencil: Pencil, before: Sequence[Unit], after: Sequence[Unit]) -> bool:
    """Note how letters looked that look otherwise now; return whether there are any."""
    is_any = False
    for one, other in zip(before, after, strict=True):
        for piece, same in zip(one.pieces, other.pieces, strict=True):
            if piece.look != same.look and not _is_own(pencil, same):
                same.was = piece.run if piece.run is not None else element("r")
                is_any = True
    return is_any


def _put_gone(line: list[Piece], gone: list[Piece], old: Sequence[Piece]) -> None:
    """Put what went behind what is before it, and behind the marks that were."""
    if not gone:
        return
    at = len(line)
    while at and line[at - 1].is_silent:
        at -= 1
    begin = next((place for place, piece in enumerate(old) if piece is gone[0]), 0)
    leading: set[tuple[str, str]] = set()
    while begin and old[begin - 1].is_silent:
        begin -= 1
        leading.add(old[begin].number)
    last = max((place for place in range(at, len(line)) if line[place].number in leading), default=at - 1)
    line[last + 1 : last + 1] = gone


def _compared(before: Sequence[Unit], after: Sequence[Unit]) -> list[tuple[str, int, int, int, int]]:
    one, other = [_key(unit) for unit in before], [_key(unit) for unit in after]
    begin = 0
    while begin < min(len(one), len(other)) and one[begin] == other[begin]:
        begin += 1
    behind = 0
    while behind < min(len(one), len(other)) - begin and one[-1 - behind] == other[-1 - behind]:
        behind += 1
    ends = len(one) - behind, len(other) - behind
    middle = [("replace", begin, ends[0], begin, ends[1])]
    if (ends[0] - begin) * (ends[1] - begin) <= _COMPARED_MAX:
        found = SequenceMatcher(None, one[begin : ends[0]], other[begin : ends[1]], autojunk=False).get_opcodes()
        middle = [(kind, begin + i1, begin + i2, begin + j1, begin + j2) for kind, i1, i2, j1, j2 in found]
    elif begin == ends[0] and begin == ends[1]:
        middle = []
    return [("equal", 0, begin, 0, begin), *middle, ("equal", ends[0], len(one), ends[1], len(other))]


def _key(unit: Unit) -> object:
    # Of fields in both forms only those of the same form have the same pieces.
    return unit.key, len(unit.pieces)


def _tracked_fields(pieces: Sequence[Piece]) -> Iterable[Piece]:
    """Yield a line with its fields in the form in which they can be marked."""
    units = units_of(pieces)
    longer = {unit.pieces[0]: made for unit in units if (made := as_tracked(unit)) is not unit.pieces}
    shorter = {piece for unit in units if unit.pieces[0] in longer for piece in unit.pieces[1:]}
    for piece in pieces:
        if piece in longer:
            yield from longer[piece]
        elif piece not in shorter:
            yield piece


def _delete(pencil: Pencil, piece: Piece) -> bool:
    """Mark a piece as gone; return whether it is still to be seen."""
    if any(shell.element.tag in GONE for shell in piece.path):
        return True
    if _is_own(pencil, piece):
        return False
    piece.deed = "del"
    return True


def _is_own(pencil: Pencil, piece: Piece) -> bool:
    """Tell whether the same person has inserted a piece and nobody decided about that yet."""
    return any(shell.element.tag == w("ins") and pencil.is_own(shell.element) for shell in piece.path)


def _lift(pencil: Pencil, piece: Piece) -> None:
    """Mark a piece as new that came into what others have inserted: it is no part of that."""
    if _is_own(pencil, piece):
        return
    piece.path = tuple(shell for shell in piece.path if shell.element.tag not in COME)
    _check_insertable(piece)
    piece.deed = "ins"


def _check_insertable(piece: Piece) -> None:
    if any(shell.element.tag in GONE | COME for shell in piece.path):
        raise InvalidEditError(
            "what would be inserted holds tracked changes itself: accept or reject them first with review_changes, or "
            "use changeMode direct"
        )


def _open(pencil: Pencil, holder: Element, shell: Shell | str) -> Element:
    if isinstance(shell, str):
        made = pencil.mark(shell)
        holder.append(made)
        return made
    made = element("r")
    made.tag = shell.element.tag
    for name, text in shell.element.attrib.items():
        made.set(name, text)
    made.extend(deepcopy([inner for inner in shell.element if inner.tag in _PROPERTIES]))
    holder.append(made)
    if shell.element.tag != SDT:
        return made
    content = element("sdtContent")
    made.append(content)
    return content


def _run(pencil: Pencil, piece: Piece) -> Element:
    made = element("r")
    if piece.run is None:
        return made
    for name, text in piece.run.attrib.items():
        made.set(name, text)
    properties = piece.run.find(R_PR)
    if properties is not None:
        made.append(deepcopy(properties))
    if piece.was is not None:
        now = made.find(R_PR)
        if now is None:
            now = element("rPr")
            made.append(now)
        before = piece.was.find(R_PR)
        noted = None if before is None else before.find(w("rPrChange"))
        pencil.keep_before(now, "rPr", plain(before), None if noted is None else deepcopy(noted))
    return made


def _put(run: Element, piece: Piece) -> None:
    if piece.letter:
        tag = "delText" if piece.deed == "del" or piece.leaf.tag == w("delText") else "t"
        last = run[-1] if len(run) else None
        if last is None or last.tag != w(tag):
            last = element(tag)
            last.set(SPACE, "preserve")
            run.append(last)
        last.text = (last.text or "") + piece.letter
        return
    if piece.deed == "del" and piece.leaf.tag in _DELETED:
        piece.leaf.tag = w(_DELETED[str(piece.leaf.tag)])
    run.append(piece.leaf)
