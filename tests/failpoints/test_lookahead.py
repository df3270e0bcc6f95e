"""Edits that are done before their turn: whoever does them crashes at every point, each is settled once, in turn."""

import pytest

from officeplane.failpoints import POINTS
from tests.failpoints.conftest import Sweep
from tests.failpoints.lookahead import CRASHES, NOT_PASSED, LaneCase

ENTERING = ("after_pop", "after_resolve", "after_lock", "after_claim")
RUNNING = ("handler_start", "handler_end", "before_settle", "after_settle", "after_ready_rung")
GOING_ON = ("before_continue", "after_continue", "after_release", "before_renewal", "sweep_marked")


def test_every_point_is_passed_amid_edits_done_ahead_or_its_reason_is_written_down() -> None:
    assert sorted((*CRASHES, *NOT_PASSED)) == sorted(POINTS)


@pytest.mark.parametrize("case", [LaneCase((point,)) for point in CRASHES], ids=CRASHES)
async def test_after_crashes_each_edit_of_a_lane_is_settled_once_and_in_turn(
    lane_sweep: Sweep[LaneCase], case: LaneCase
) -> None:
    await lane_sweep.done(case)


@pytest.mark.parametrize(
    "case",
    [LaneCase(points, "raise@0.5") for points in (ENTERING, RUNNING, GOING_ON)],
    ids=["entering", "running", "going_on"],
)
async def test_whoever_loses_the_database_now_and_then_settles_each_edit_once_and_in_turn(
    lane_sweep: Sweep[LaneCase], case: LaneCase
) -> None:
    await lane_sweep.done(case)


@pytest.mark.parametrize("case", [LaneCase(("child",), "kill")], ids=["child"])
async def test_a_child_that_is_killed_again_and_again_costs_time_and_no_edit(
    lane_sweep: Sweep[LaneCase], case: LaneCase
) -> None:
    await lane_sweep.done(case)
