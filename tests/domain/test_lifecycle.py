from itertools import product

import pytest

from officeplane.domain.lifecycle import (
    ACTIVE,
    CLAIMABLE,
    FINAL,
    MEANINGS,
    NOT_BEGUN,
    REOPENABLE,
    SETTLEABLE,
    STATE_SETS,
    TRANSITIONS,
    UNFINISHED,
    WAITING,
    TaskState,
    is_legal,
    sources_of,
)


def test_the_states_are_the_documented_ones() -> None:
    documented = "PENDING QUEUED CLAIMED RUNNING VALIDATING RETRYING COMPLETED FAILED TIMEOUT CANCELLED"

    assert [str(state) for state in TaskState] == documented.split()


def test_every_state_has_a_meaning() -> None:
    assert list(MEANINGS) == list(TaskState)


def test_a_task_waits_is_active_or_is_final() -> None:
    assert sorted((*WAITING, *ACTIVE, *FINAL)) == sorted(TaskState)
    assert set(UNFINISHED) == set(TaskState) - set(FINAL)


def test_the_narrower_sets_lie_in_the_wider_ones() -> None:
    assert set(CLAIMABLE) < set(WAITING)
    assert set(NOT_BEGUN) < set(WAITING)
    assert set(SETTLEABLE) < set(ACTIVE)
    assert set(REOPENABLE) == set(FINAL) - {TaskState.COMPLETED}


def test_no_set_of_states_names_one_twice() -> None:
    assert all(len(set(states)) == len(states) for states in STATE_SETS.values())


def test_every_state_is_reached_and_every_state_but_the_best_is_left() -> None:
    sources = {state for way in TRANSITIONS for state in way.sources}
    targets = {way.target for way in TRANSITIONS}

    assert set(TaskState) <= targets
    assert set(TaskState) - sources == {TaskState.COMPLETED}


def test_a_signal_is_one_way() -> None:
    assert len({way.signal for way in TRANSITIONS}) == len(TRANSITIONS)


def test_nobody_goes_where_he_is() -> None:
    assert not any(way.target in way.sources for way in TRANSITIONS)


def test_a_final_state_is_left_only_by_an_explicit_retry() -> None:
    leaving = {way.signal for way in TRANSITIONS if set(way.sources) & set(FINAL)}

    assert leaving == {"reopen", "reopen_blocked", "reopen_batch"}


@pytest.mark.parametrize(("source", "target"), list(product(TaskState, TaskState)))
def test_a_step_is_legal_exactly_when_some_signal_takes_it(source: TaskState, target: TaskState) -> None:
    signals = [way.signal for way in TRANSITIONS if way.target is target and source in sources_of(way.signal)]

    assert is_legal(source, target) is bool(signals)


def test_a_signal_that_is_not_in_the_table_is_heard_nowhere() -> None:
    assert sources_of("explode") == frozenset()
