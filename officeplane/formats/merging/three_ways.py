"""Three ways: what an upload has changed of the revision that its sender read, done to what the head has become.

All three are rows of nodes with the same ids (`formats/naming`): a node that is in both later states and not
in the first is another one in each, whatever it is called. A node goes on as whoever has changed it has it; where
both have, each in another way, they are in conflict. What is new stands behind what it stood behind.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from officeplane.formats.diff import longest_rising
from officeplane.formats.merging.programs import program_of
from officeplane.formats.merging.unit import Conflict, Unit
from officeplane.formats.package import Package


class Piece(NamedTuple):
    """A node of the result: the head's, the upload's, or the upload's in place of the head's."""

    head: Unit | None
    upload: Unit | None
    is_moved: bool = False

    @property
    def result(self) -> Unit:
        """The node that the result has to be like."""
        unit = self.upload or self.head
        assert unit is not None  # noqa: S101 - one of the two is there
        return unit


class Plan(NamedTuple):
    """The row that comes of it, what is taken out of the head, and what stands in the way."""

    pieces: list[Piece]
    removed: list[Unit]
    conflicts: list[Conflict]

    @property
    def is_nothing(self) -> bool:
        """Whether the head stays as it is."""
        return not self.removed and all(one.upload is None and not one.is_moved for one in self.pieces)


class States(NamedTuple):
    """Whether nodes of two later states are compared with the base by all that they are, or by what a reader sees."""

    head_is_exact: bool = True
    upload_is_exact: bool = True


class Settled(NamedTuple):
    """Whether a node is taken from the upload, or is in conflict; else the head's stays."""

    is_taken: bool
    conflict: Conflict | None = None


def is_exact(base: Mapping[str, Unit], other: Sequence[Unit], *, is_same_program: bool) -> bool:
    """Tell whether a state is written as the base is; if not, another program has written everything anew.

    What looks the same is the same then, for nobody could tell what of the rest somebody has wanted.
    """
    if is_same_program:
        return True
    alike = [one for one in other if one.id in base and one.roughly == base[one.id].roughly]
    return 2 * sum(one.exactly == base[one.id].exactly for one in alike) >= len(alike)


class Three(NamedTuple):
    """One node in all three states, where it is there."""

    base: Unit | None
    head: Unit | None
    upload: Unit | None


def settle(node_id: str, three: Three, states: States) -> Settled:
    """Return what becomes of one node."""
    base, head, upload = three
    if _is_same(base, upload, is_exact=states.upload_is_exact) or _is_same(head, upload, is_exact=True):
        # Nothing was changed, or the same was changed in both.
        return Settled(is_taken=False)
    tied = frozenset[str]() if head is None or base is None or upload is not None else head.tied - base.tied
    if _is_same(base, head, is_exact=states.head_is_exact) and not tied:
        return Settled(is_taken=True)
    said = [None if one is None else one.said for one in three]
    conflict = Conflict(node_id, said[0], said[1], said[2])
    if tied:
        named = ", ".join(sorted(tied))
        conflict = conflict._replace(detail=f"others have tied {named} to what the upload takes away")
    return Settled(is_taken=False, conflict=conflict)


def _is_same(one: Unit | None, other: Unit | None, *, is_exact: bool) -> bool:
    if one is None or other is None:
        return one is other
    return one.exactly == other.exactly if is_exact else one.roughly == other.roughly


def merged(base: Sequence[Unit], head: Sequence[Unit], upload: Sequence[Unit], states: States) -> Plan:
    """Return what comes of the head when it is done to it what the upload has done to the base."""
    return _Merging(base, head, upload, states).plan()


def states_of(
    base: Mapping[str, Unit], head: Sequence[Unit], upload: Sequence[Unit], packages: Sequence[Package]
) -> States:
    """Return how finely states are compared, whose files are given in the same order."""
    by = [program_of(package) for package in packages]
    return States(
        is_exact(base, head, is_same_program=by[0] == by[1]), is_exact(base, upload, is_same_program=by[0] == by[2])
    )


class _Merging:
    def __init__(self, base: Sequence[Unit], head: Sequence[Unit], upload: Sequence[Unit], states: States) -> None:
        self._base = {one.id: one for one in base}
        self._head = {one.id: one for one in head if one.id in self._base}
        self._upload = {one.id: one for one in upload if one.id in self._base}
        self._row = upload
        self._all = head
        self._pieces: list[Piece] = []
        self._removed: list[Unit] = []
        self._conflicts: list[Conflict] = []
        self._states = states
        self._moved = _moved(base, upload)
        self._moved_here = _moved(base, head)
        if [one.id for one in head if one.id in self._upload] == [one.id for one in upload if one.id in self._head]:
            # Both have moved the same, or nobody anything.
            self._moved = set[str]()

    def plan(self) -> Plan:
        taken = {was.id: self._upload.get(was.id) for was in self._base.values() if self._is_taken(was)}
        self._removed = [self._head[node_id] for node_id, now in taken.items() if now is None]
        gone = {one.id for one in self._removed}
        self._pieces = [
            Piece(one, taken.get(one.id) if one.id in self._head else None) for one in self._all if one.id not in gone
        ]
        for node_id in self._moved:
            self._check_move(node_id)
        if not self._conflicts:
            self._put_in()
        return Plan(self._pieces, self._removed, self._conflicts)

    def _is_taken(self, was: Unit) -> bool:
        settled = settle(was.id, Three(was, self._head.get(was.id), self._upload.get(was.id)), self._states)
        if settled.conflict is not None:
            self._conflicts.append(settled.conflict)
        return settled.is_taken

    def _check_move(self, node_id: str) -> None:
        here, now = self._head.get(node_id), self._upload[node_id]
        # Of two orders nobody can tell for sure which of the nodes has moved.
        if here is None or self._moved_here:
            said = None if here is None else here.said
            detail = "the upload has moved it, and others have moved nodes, too, or have deleted it"
            self._conflicts.append(Conflict(node_id, self._base[node_id].said, said, now.said, detail))

    def _put_in(self) -> None:
        """Put what is new and what has moved behind what it stands behind in the upload."""
        anchor: Unit | None = None
        run: list[Unit] = []
        for one in [*self._row, None]:
            if one is not None and (one.id not in self._base or one.id in self._moved):
                run.append(one)
                continue
            if run:
                self._put_run(anchor, run)
            anchor, run = one, []

    def _put_run(self, anchor: Unit | None, run: Sequence[Unit]) -> None:
        if anchor is not None and anchor.id not in self._head:
            detail = "what it stands behind in the upload is no longer in the document"
            self._conflicts += [Conflict(one.id, None, None, one.said, detail) for one in run]
            return
        made = [self._piece(one) for one in run]
        gone = {id(one.head) for one in made if one.head is not None}
        self._pieces = [one for one in self._pieces if one.head is None or id(one.head) not in gone]
        at = 0
        if anchor is not None:
            at = next(i for i, one in enumerate(self._pieces) if one.head is self._head[anchor.id]) + 1
        end = at
        while end < len(self._pieces) and self._is_new(self._pieces[end].head):
            end += 1
        theirs = [one.head for one in self._pieces[at:end] if one.head is not None]
        if _holds(theirs, run):
            # The same was put there already: by this very upload, whose answer was lost.
            return
        if theirs and any(one.is_title for one in run):
            if not run[0].is_title and any(one.is_title for one in theirs):
                detail = "both have put headings and other text at the same place"
                self._conflicts += [Conflict(one.id, None, theirs[0].said, one.said, detail) for one in run]
                return
            # What has no heading of its own goes on with what was above it.
            at = end
        self._pieces[at:at] = made

    def _piece(self, one: Unit) -> Piece:
        here = self._head.get(one.id)
        if here is None:
            return Piece(None, one)
        known = next((piece for piece in self._pieces if piece.head is here), None)
        return Piece(here, None if known is None else known.upload, is_moved=True)

    def _is_new(self, head: Unit | None) -> bool:
        return head is not None and head.id not in self._base


def _holds(theirs: Sequence[Unit], run: Sequence[Unit]) -> bool:
    """Tell whether a run stands among others as it is."""
    said, wanted = ([one.exactly for one in units] for units in (theirs, run))
    return any(said[at : at + len(wanted)] == wanted for at in range(len(said) - len(wanted) + 1))


def _moved(before: Sequence[Unit], after: Sequence[Unit]) -> set[str]:
    """Return the nodes that stand elsewhere among those that are in both."""
    places = {one.id: at for at, one in enumerate(before)}
    common = [one.id for one in after if one.id in places]
    kept = longest_rising([places[one] for one in common])
    return {one for at, one in enumerate(common) if at not in kept}
