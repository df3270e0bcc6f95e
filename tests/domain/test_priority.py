from datetime import UTC, datetime
from typing import Any, Final

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.priority import (
    BOOST_PER_MINUTE,
    DEADLINE_URGENCY_MAX,
    NAMED_RANGES,
    PRIORITY_NAMES,
    SCALE_OF_TEN,
    TIER_CEILINGS,
    Tier,
    deadline_urgency,
    effective_priority,
    priority_now,
    rank_of,
    shown,
    tier_of,
)
from officeplane.domain.request import ScaledPriority, priority_value

PRIORITIES = st.integers(0, 100)
MINUTES = st.floats(0, 100_000_000, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "value"), [("CRITICAL", 0), ("HIGH", 20), ("NORMAL", 50), ("LOW", 70), ("BACKGROUND", 90)]
)
def test_a_name_stands_for_one_number(name: str, value: int) -> None:
    assert PRIORITY_NAMES[name] == value


def test_a_number_stands_for_itself() -> None:
    assert [priority_value(value) for value in range(101)] == list(range(101))


def test_on_the_scale_of_ten_the_highest_is_the_most_urgent() -> None:
    values = [priority_value(ScaledPriority(scale=10, value=value)) for value in range(10, 0, -1)]

    assert values == sorted(set(values))
    assert (values[0], values[-1]) == (0, 90)


def test_what_both_notations_call_normal_is_the_same_number() -> None:
    assert SCALE_OF_TEN[5] == PRIORITY_NAMES["NORMAL"]


@pytest.mark.parametrize(("value", "tier"), [
    (0, Tier.CRITICAL), (9, Tier.CRITICAL), (10, Tier.HIGH), (29, Tier.HIGH),
    (30, Tier.NORMAL), (59, Tier.NORMAL), (60, Tier.LOW), (100, Tier.LOW),
])  # fmt: skip
def test_tiers_begin_and_end_where_they_are_documented_to(value: int, tier: Tier) -> None:
    assert tier_of(value) is tier


@pytest.mark.parametrize(("aged", "tier"), [(-40.0, Tier.CRITICAL), (9.99, Tier.CRITICAL), (59.5, Tier.NORMAL)])
def test_ageing_moves_a_task_through_the_tiers_and_below_zero(aged: float, tier: Tier) -> None:
    assert tier_of(aged) is tier


def test_a_name_lies_in_the_range_by_which_lists_are_filtered() -> None:
    for name, (low, high) in NAMED_RANGES.items():
        assert low <= PRIORITY_NAMES[name] <= high
        assert tier_of(low) is tier_of(high)


def test_the_ranges_of_the_tiers_leave_no_number_out() -> None:
    covered = [value for name in ("CRITICAL", "HIGH", "NORMAL", "LOW") for value in _range(name)]

    assert covered == list(range(101))
    assert [NAMED_RANGES[tier.name][1] for tier in Tier] == list(TIER_CEILINGS.values())


def _range(name: str) -> range:
    low, high = NAMED_RANGES[name]
    return range(low, high + 1)


@given(one=PRIORITIES, other=PRIORITIES, created=MINUTES)
def test_of_two_tasks_of_one_minute_the_more_urgent_comes_first(one: int, other: int, created: float) -> None:
    assert (rank_of(one, created) < rank_of(other, created)) == (one < other)


@given(priority=PRIORITIES, earlier=MINUTES, later=MINUTES)
def test_of_two_tasks_of_one_priority_the_older_never_comes_second(priority: int, earlier: float, later: float) -> None:
    earlier, later = sorted((earlier, later))

    assert rank_of(priority, earlier) <= rank_of(priority, later)


@given(ranks=st.tuples(st.floats(-1e7, 1e8), st.floats(-1e7, 1e8)), moments=st.tuples(MINUTES, MINUTES))
def test_time_never_changes_who_of_two_is_first(ranks: tuple[float, float], moments: tuple[float, float]) -> None:
    first, second = sorted(ranks)

    for now in moments:
        assert effective_priority(first, now) <= effective_priority(second, now)


@given(priority=PRIORITIES, created=st.integers(0, 50_000_000), waited=st.integers(0, 100_000))
def test_a_waiting_task_becomes_more_urgent_by_the_boost_of_each_minute(
    priority: int, created: int, waited: int
) -> None:
    effective = effective_priority(rank_of(priority, created), created + waited)

    assert effective == pytest.approx(priority - BOOST_PER_MINUTE * waited, abs=1e-6)


REMAINING: Final = st.floats(-1e12, 1e12, allow_nan=False)
AGES: Final = st.floats(0, 1e7)
BOOSTS: Final = st.floats(0, 100)
WHOLE: Final = st.fixed_dictionaries({
    "age_minutes": AGES,
    "boost_per_minute": BOOSTS,
    "remaining_seconds": st.none() | REMAINING,
    "path_boost": st.floats(0, 50),
})  # fmt: skip


def test_what_is_shown_has_one_digit_and_is_never_minus_nothing() -> None:
    assert [str(shown(value)) for value in (-0.01, 0.0, 49.96, -80.04)] == ["0.0", "0.0", "50.0", "-80.0"]


@given(one=REMAINING, other=REMAINING)
def test_the_nearer_a_deadline_the_more_urgent(one: float, other: float) -> None:
    nearer, further = sorted((one, other))

    assert deadline_urgency(nearer) >= deadline_urgency(further)


@given(remaining=REMAINING)
def test_the_urgency_of_a_deadline_is_bounded(remaining: float) -> None:
    assert 0 <= deadline_urgency(remaining) <= DEADLINE_URGENCY_MAX


@given(overdue=st.floats(-1e12, 0))
def test_from_its_deadline_on_the_least_urgent_work_is_critical(overdue: float) -> None:
    assert deadline_urgency(overdue) == DEADLINE_URGENCY_MAX
    assert tier_of(priority_now(100, age_minutes=0, remaining_seconds=overdue)) is Tier.CRITICAL


@given(remaining=st.floats(0, 80_000))
def test_urgency_doubles_every_half_hour(remaining: float) -> None:
    assert deadline_urgency(remaining) == pytest.approx(2 * deadline_urgency(remaining + 1_800))


def test_without_a_deadline_there_is_no_urgency_and_a_day_ahead_hardly_any() -> None:
    assert deadline_urgency(None) == 0
    assert deadline_urgency(86_400) < 1e-9


@given(priority=PRIORITIES, whole=WHOLE, more=AGES)
def test_nothing_but_a_boost_of_its_own_makes_age_count(priority: int, whole: dict[str, Any], more: float) -> None:
    younger = priority_now(priority, **whole)
    older = priority_now(priority, **{**whole, "age_minutes": whole["age_minutes"] + more})

    assert older <= younger
    assert whole["boost_per_minute"] > 0 or older == younger


@given(one=PRIORITIES, other=PRIORITIES, whole=WHOLE)
def test_of_two_tasks_alike_but_for_their_priority_the_more_urgent_stays_it(
    one: int, other: int, whole: dict[str, Any]
) -> None:
    lower, higher = sorted((one, other))

    assert priority_now(lower, **whole) <= priority_now(higher, **whole)


@given(priority=PRIORITIES, whole=WHOLE)
def test_a_path_boost_and_a_deadline_never_make_less_urgent(priority: int, whole: dict[str, Any]) -> None:
    plain: dict[str, Any] = {**whole, "remaining_seconds": None, "path_boost": 0.0}

    assert priority_now(priority, **whole) <= priority_now(priority, **plain)


@given(priority=PRIORITIES, created=st.integers(0, 50_000_000), waited=st.integers(0, 100_000))
def test_a_plain_task_is_as_urgent_as_its_rank_says(priority: int, created: int, waited: int) -> None:
    by_rank = effective_priority(rank_of(priority, created), created + waited)

    assert priority_now(priority, age_minutes=waited) == pytest.approx(by_rank, abs=1e-6)


async def test_postgres_and_python_agree_on_how_urgent_a_task_is(database_url: str) -> None:
    now = datetime(2030, 1, 31, 12, tzinfo=UTC)
    cases: list[tuple[int, float, float | None, float, float | None]] = [
        (priority, path, boost, minutes, remaining)
        for priority in (0, 50, 100)
        for path in (0.0, 7.5)
        for boost in (None, 0.0, 2.5, 100.0)
        for minutes in (0.0, 0.5, 100_000.0)
        for remaining in (None, -1e6, 0.0, 1.0, 1_800.0, 90_000.0, 1e9)
    ]
    connection = await asyncpg.connect(database_url)
    try:
        rows = await connection.fetch(
            "SELECT rank_at($1::timestamptz, 0.1, c.priority, c.path, c.boost, $1 + make_interval(secs => c.remaining),"
            "               $1 - make_interval(secs => c.minutes * 60))"
            "       - 0.1 * extract(epoch FROM $1)::float8 / 60 AS now"
            "  FROM unnest($2::float8[], $3::float8[], $4::float8[], $5::float8[], $6::float8[])"
            "       AS c(priority, path, boost, minutes, remaining)",
            now,
            *zip(*cases, strict=True),
        )
    finally:
        await connection.close()

    for (priority, path, boost, minutes, remaining), row in zip(cases, rows, strict=True):
        assert row["now"] == pytest.approx(
            priority_now(
                priority,
                age_minutes=minutes,
                boost_per_minute=BOOST_PER_MINUTE if boost is None else boost,
                remaining_seconds=remaining,
                path_boost=path,
            ),
            abs=1e-4,
        )


async def test_postgres_and_python_agree_on_the_tier_of_every_priority(database_url: str) -> None:
    halves = [half / 2 for half in range(-400, 402)]
    edges = [edge - tiny for edge in (10.0, 30.0, 60.0) for tiny in (1e-9, 0.0, -1e-9)]
    connection = await asyncpg.connect(database_url)
    try:
        rows = await connection.fetch("SELECT p, tier_of(p) AS tier FROM unnest($1::float8[]) AS p", [*halves, *edges])
    finally:
        await connection.close()

    assert [row["tier"] for row in rows] == [int(tier_of(row["p"])) for row in rows]
