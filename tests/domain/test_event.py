import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.event import END_OF_ROW, EventPosition, parse_position

POSITIONS = st.builds(EventPosition, st.integers(0, 10**19 - 1), st.integers(0, 10**18 - 1), st.integers(0, END_OF_ROW))


@given(POSITIONS)
def test_a_position_is_read_back_as_it_was_written(position: EventPosition) -> None:
    assert parse_position(str(position)) == position


@given(POSITIONS, POSITIONS)
def test_positions_are_in_the_order_of_transaction_row_and_index(one: EventPosition, other: EventPosition) -> None:
    assert (one < other) == ((one.xid, one.row, one.index) < (other.xid, other.row, other.index))


@given(POSITIONS)
def test_the_end_of_a_row_is_behind_everything_in_it(position: EventPosition) -> None:
    assert position <= EventPosition(position.xid, position.row)


@pytest.mark.parametrize("text", [
    "", "1", "1-2", "1-2-3-4", "-1-2-3", "1--2-3", "a-b-c", "1-2-3\n", " 1-2-3", "1-2-", "1.0-2-3", "١-٢-٣", "²-1-1",
    "9" * 20 + "-1-1", "1-" + "9" * 19 + "-1", "1-1-" + "9" * 11, "9" * 5_000,
])  # fmt: skip
def test_what_is_no_position_of_ours_is_none(text: str) -> None:
    assert parse_position(text) is None


@given(st.text())
def test_reading_a_position_never_fails(text: str) -> None:
    position = parse_position(text)

    assert position is None or parse_position(str(position)) == position
