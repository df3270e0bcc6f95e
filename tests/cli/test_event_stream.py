"""Events out of bytes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from officeplane.cli.event_stream import EventParser, ServerEvent

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


def test_an_event_without_an_id_of_its_own_keeps_the_last_one() -> None:
    assert [event.id for event in EventParser(last_id="3").feed(b"data: x\n\n")] == ["3"]
