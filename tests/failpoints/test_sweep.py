"""The sweep: a process crashes at every point for every kind of task, is started again, and all ends once."""

from collections import Counter
from itertools import product

import pytest

from officeplane.failpoints import POINTS
from tests.failpoints.cases import CASES, LOSSES, UNREACHABLE, Case, Kind
from tests.failpoints.conftest import Sweep


def test_every_point_is_swept_for_every_kind_or_its_reason_is_written_down() -> None:
    assert Counter((point, case.kind) for case in CASES for point in case.points) == Counter(product(POINTS, Kind))
    assert set(UNREACHABLE) < set(product(POINTS, Kind))
    assert all(any(Case(point, kind).is_reachable for kind in Kind) for point in POINTS)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_after_a_crash_everything_ends_as_it_must_and_once(sweep: Sweep[Case], case: Case) -> None:
    await sweep.done(case)


@pytest.mark.parametrize("case", LOSSES, ids=[case.name for case in LOSSES])
async def test_whoever_loses_the_database_now_and_then_goes_on_and_all_ends_once(
    sweep: Sweep[Case], case: Case
) -> None:
    await sweep.done(case)
