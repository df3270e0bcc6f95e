"""Events out of bytes, and across broken connections."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.cli.client import Client
from officeplane.cli.event_stream import EVENT_BYTES_MAX, EventParser, Link, ServerEvent, follow
from officeplane.cli.exits import RefusedError, UnreachableError
from officeplane.embedded.ports import free_port

STREAM = (
    b": hello\r\n\r\n"
    b'id: 7\nevent: task.queued\ndata: {"a": 1}\n\n'
    b": keep-alive\n\n"
    b"data: two\ndata:lines\n\n"
    b"id: 9\r\nevent: task.completed\r\ndata: \xc3\xa9\r\n\r\n"
    b"event: unfinished\ndata: never dispatched\n"
)
EVENTS = [
    ServerEvent("task.queued", '{"a": 1}', "7"),
    ServerEvent("message", "two\nlines", "7"),
    ServerEvent("task.completed", "é", "9"),
]


def test_events_are_read_comments_and_the_unfinished_are_not() -> None:
    assert EventParser().feed(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_it_does_not_matter_where_the_bytes_are_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    parser = EventParser()

    heard = [event for start, end in pairwise(edges) for event in parser.feed(STREAM[start:end])]

    assert heard == EVENTS


@pytest.mark.parametrize("part", [b"x" * 65_536, b"data: " + b"x" * 65_536 + b"\n"], ids=["a line", "lines"])
def test_an_event_without_end_is_not_kept(part: bytes) -> None:
    parser = EventParser()
    parser.feed(part * (EVENT_BYTES_MAX // 65_536 - 1))

    with pytest.raises(RefusedError, match="no API"):
        parser.feed(part * 2)


def test_any_number_of_events_is_read() -> None:
    parser = EventParser()

    read = sum(len(parser.feed(b"data: " + b"x" * 1000 + b"\n\n")) for _ in range(3 * EVENT_BYTES_MAX // 1000))

    assert read == 3 * EVENT_BYTES_MAX // 1000


def test_an_event_without_an_id_of_its_own_keeps_the_last_one() -> None:
    assert [event.id for event in EventParser(last_id="3").feed(b"data: x\n\n")] == ["3"]


async def test_an_api_that_goes_away_before_the_stream_is_open_is_waited_for() -> None:
    async with Client(f"http://127.0.0.1:{free_port()}") as client:
        assert await anext(follow(client, {}, seen_at=time.monotonic())) is Link.LOST


async def test_an_api_that_was_never_there_is_not_waited_for() -> None:
    async with Client(f"http://127.0.0.1:{free_port()}") as client:
        with pytest.raises(UnreachableError):
            await anext(follow(client, {}))
