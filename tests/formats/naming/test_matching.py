"""Matching: nodes are the same by kind, order and text, and whoever is not found is new."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from officeplane.formats.naming.matching import pairs
from officeplane.formats.naming.named import Named


def _nodes(*said: str, numbers: Sequence[int] | None = None, looks: str = "", is_own: bool = True) -> list[Named]:
    given = range(1, len(said) + 1) if numbers is None else numbers
    return [
        Named(f"n-{number}", "n", str(number), text, looks, is_own=is_own)
        for text, number in zip(said, given, strict=True)
    ]


def _matched(before: Sequence[Named], after: Sequence[Named], *, numbers_count: bool = True) -> dict[int, int]:
    """Return which place in the one became which in the other."""
    return {before.index(was): after.index(now) for was, now in pairs(before, after, numbers_count=numbers_count)}


def test_what_says_something_of_its_own_is_found_wherever_it_stands_and_whatever_it_is_called() -> None:
    before = _nodes("one", "two", "three")
    after = _nodes("three", "one", "new words here", "two", numbers=[1, 2, 3, 4])

    assert _matched(before, after) == {0: 1, 1: 3, 2: 0}


def test_of_twins_the_one_between_the_same_neighbours_is_the_same() -> None:
    before = _nodes("begin", "twin", "middle", "twin", "end")
    after = _nodes("begin", "middle", "twin", "end", numbers=[7, 8, 9, 10])

    assert _matched(before, after) == {0: 0, 2: 1, 3: 2, 4: 3}


def test_of_twins_side_by_side_the_number_tells_where_numbers_are_kept() -> None:
    before = _nodes("begin", "twin", "twin", "end")
    after = _nodes("begin", "twin", "end", numbers=[1, 3, 4])

    assert _matched(before, after) == {0: 0, 2: 1, 3: 2}


def test_numbers_that_were_derived_tell_nothing() -> None:
    before = _nodes("begin", "twin", "middle", "twin", "end", is_own=False)
    after = _nodes("begin", "middle", "twin", "end", numbers=[1, 3, 2, 5], is_own=False)

    assert _matched(before, after) == {0: 0, 2: 1, 3: 2, 4: 3}


def test_a_shifted_number_does_not_make_one_thing_another() -> None:
    before = _nodes("logo", "chart of sales", "chart of costs")
    after = _nodes("logo", "chart of costs", numbers=[2, 3])

    assert _matched(before, after) == {0: 0, 2: 1}


def test_a_changed_text_between_the_same_neighbours_is_the_same_if_it_is_still_like_itself() -> None:
    before = _nodes("begin", "the term is thirty days from notice", "end")
    after = _nodes("begin", "the term is sixty days from notice", "end", numbers=[4, 5, 6])

    assert _matched(before, after) == {0: 0, 1: 1, 2: 2}


def test_a_number_that_was_made_here_is_believed_whatever_is_said_now() -> None:
    before = [Named("n-ab", "n", "ab", "Scope", is_sure=True), *_nodes("Term")]
    after = [*_nodes("Term", numbers=[9]), Named("n-ab", "n", "ab", "Definitions", is_sure=True)]

    assert _matched(before, after) == {0: 1, 1: 0}


def test_another_text_in_the_same_place_is_new() -> None:
    before = _nodes("begin", "the term is thirty days from notice", "end")
    after = _nodes("begin", "nothing of what was said before", "end", numbers=[4, 5, 6])

    assert _matched(before, after) == {0: 0, 2: 2}


def test_what_says_nothing_is_the_same_only_if_none_of_its_kind_has_come_or_gone() -> None:
    before = _nodes("begin", "", "", "end")

    assert _matched(before, _nodes("begin", "", "", "end", numbers=[5, 6, 7, 8])) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert _matched(before, _nodes("begin", "", "end", numbers=[5, 6, 7])) == {0: 0, 3: 2}


def test_pictures_are_told_apart_by_what_they_show() -> None:
    before = [*_nodes("", looks="a cat"), *_nodes("", numbers=[2], looks="a dog")]
    after = [*_nodes("", numbers=[2], looks="a cat")]

    assert _matched(before, after) == {0: 0}


_TEXTS = st.lists(st.sampled_from(["", "a", "b", "a longer text of several words", "c"]), max_size=12)


@given(_TEXTS, _TEXTS, st.booleans())
def test_no_node_becomes_two_and_no_two_become_one(before: list[str], after: list[str], numbers_count: bool) -> None:
    was, now = _nodes(*before), _nodes(*after)

    found = pairs(was, now, numbers_count=numbers_count)

    assert len({id(pair.was) for pair in found}) == len({id(pair.now) for pair in found}) == len(found)
    assert all(pair.was.said == pair.now.said for pair in found)


@given(_TEXTS)
def test_what_nobody_has_changed_is_all_the_same(texts: list[str]) -> None:
    nodes = _nodes(*texts)

    assert _matched(nodes, _nodes(*texts, numbers=range(100, 100 + len(texts)))) == {i: i for i in range(len(texts))}
