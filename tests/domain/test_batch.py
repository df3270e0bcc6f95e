from itertools import product

from officeplane.domain.batch import EndBatch, KeepWaiting, OnChildFailure, Siblings, StartChild, advance
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState

NEXT = TaskId("next")
ABORT: OnChildFailure = "abort"
CONTINUE: OnChildFailure = "continue"
SIBLINGS = [
    Siblings(TaskId("parent"), policy, cancel_requested, has_turn, busy, gave_up, next_pending)
    for policy, cancel_requested, has_turn, busy, gave_up, next_pending in product(
        (ABORT, CONTINUE), (False, True), (False, True), (0, 1, 3), (0, 1, 3), (NEXT, None)
    )
]


def documented(siblings: Siblings) -> StartChild | EndBatch | KeepWaiting:
    """Return what the documents say, row by row."""
    is_pending = siblings.next_pending is not None
    match (
        siblings.busy > 0,
        siblings.cancel_requested,
        siblings.gave_up > 0,
        siblings.on_child_failure,
        is_pending,
        siblings.has_turn,
    ):
        case (True, _, _, _, _, _):
            return KeepWaiting()
        case (_, True, _, _, _, _):
            return EndBatch(TaskState.CANCELLED)
        case (_, _, True, "abort", _, _):
            return EndBatch(TaskState.FAILED)
        case (_, _, _, _, True, True):
            return StartChild(NEXT)
        case (_, _, _, _, True, False):
            return KeepWaiting()
        case (_, _, True, "continue", False, _):
            return EndBatch(TaskState.FAILED)
        case _:
            return EndBatch(TaskState.COMPLETED)


def test_what_a_batch_does_when_a_child_has_ended() -> None:
    for siblings in SIBLINGS:
        assert advance(siblings) == documented(siblings), siblings


def test_a_batch_completes_only_when_every_child_did() -> None:
    completing = [siblings for siblings in SIBLINGS if advance(siblings) == EndBatch(TaskState.COMPLETED)]

    assert completing
    assert {(siblings.busy, siblings.gave_up, siblings.next_pending) for siblings in completing} == {(0, 0, None)}
