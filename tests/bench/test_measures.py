"""How single numbers are made of what handlers left behind."""

import os
from pathlib import Path

import pytest

from officeplane.bench import traces
from officeplane.bench.figures import percentile, spread
from officeplane.bench.picture import bar, number
from officeplane.bench.scenarios.drain import rate
from officeplane.bench.scenarios.lanes import inversions, overlaps
from officeplane.bench.traces import Trace, Traces


def a_trace(number: int, began: float, ended: float, *, lane: int = 0, process: int = 1) -> Trace:
    return Trace(number, lane, process, round(began * 1e9), round(ended * 1e9))


def test_handlers_of_one_lane_that_ran_at_once_are_counted() -> None:
    assert overlaps([a_trace(1, 0, 2), a_trace(2, 1, 3), a_trace(3, 3, 4)]) == 1
    assert overlaps([a_trace(1, 0, 2, lane=1), a_trace(2, 1, 3, lane=2)]) == 0


def test_a_handler_inside_a_longer_one_does_not_hide_the_next() -> None:
    assert overlaps([a_trace(1, 0, 9), a_trace(2, 1, 2), a_trace(3, 5, 6)]) == 2


def test_handlers_that_began_after_a_younger_one_of_their_lane_are_counted() -> None:
    assert inversions([a_trace(2, 0, 1), a_trace(1, 1, 2), a_trace(3, 2, 3)]) == 1
    assert inversions([a_trace(2, 0, 1, lane=1), a_trace(1, 1, 2, lane=2)]) == 0


def test_a_drain_is_timed_from_when_the_last_worker_had_begun() -> None:
    early = [a_trace(n, n, n, process=1) for n in range(10)]
    late = [a_trace(10 + n, 5 + n, 5 + n, process=2) for n in range(5)]

    assert rate([*early, *late], ended=10 * 10**9) == pytest.approx(10 / 5)


def test_marks_are_read_as_they_were_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = Traces(tmp_path / "traces")
    monkeypatch.setenv(traces.VARIABLE, str(left.path))

    traces.leave(7, traces.now(), lane=3)

    (trace,) = left.read()
    assert len(left) == 1
    assert (trace.number, trace.lane, trace.process) == (7, 3, os.getpid())
    assert trace.began <= trace.ended <= traces.now()


def test_percentiles_and_spread() -> None:
    values = [float(n) for n in range(100)]

    assert percentile(values, 0.5) == 50
    assert percentile(values, 0.99) == 99
    assert percentile([], 0.5) == 0
    assert spread([8.0, 10.0, 12.0]) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.1234, "0.12"), (12.34, "12.3"), (123.4, "123"), (12_345.6, "12,346")]
)
def test_numbers_have_as_many_digits_as_mean_something(value: float, text: str) -> None:
    assert number(value) == text


def test_a_bar_ends_where_the_ratio_does() -> None:
    half = bar(0.5, longest=1.0)
    beyond = bar(2.0, longest=2.0)

    assert half.count("█") == 20
    assert half.endswith("|")
    assert beyond[20] == "|"
    assert beyond.count("█") == 39
