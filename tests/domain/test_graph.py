"""Graphs, compared with the slowest way to say the same."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.graph import (
    Predecessors,
    find_cycle,
    in_order,
    leaves,
    longest_path,
    reached_from,
    roots,
    told,
)

DEEP = {n: [n - 1] if n else [] for n in range(10_000)}
NODES = st.integers(0, 8)
ANY = st.dictionaries(NODES, st.lists(NODES, max_size=4), max_size=9)
ACYCLIC = ANY.map(lambda needs: {node: [one for one in befores if one < node] for node, befores in needs.items()})


def before(needs: dict[int, list[int]], node: int) -> set[int]:
    """Return all that a node depends on, by asking again and again."""
    found: set[int] = set()
    while True:
        more = {one for this in (found | {node}) if this in needs for one in needs[this] if one in needs}
        if more <= found:
            return found
        found |= more


@given(ANY)
def test_a_cycle_is_found_if_there_is_one_and_is_one(needs: dict[int, list[int]]) -> None:
    cycle = find_cycle(needs)

    assert (cycle is not None) == any(node in before(needs, node) for node in needs)
    if cycle is not None:
        assert all(second in needs[first] for first, second in pairwise([*cycle, cycle[0]]))
        assert len(set(cycle)) == len(cycle)


@given(ACYCLIC)
def test_an_order_has_every_node_once_and_after_what_it_needs(needs: dict[int, list[int]]) -> None:
    order = in_order(needs)

    assert sorted(order) == sorted(needs)
    places = {node: place for place, node in enumerate(order)}
    assert all(places[one] < places[node] for node in needs for one in needs[node] if one in needs)


@given(ACYCLIC)
def test_roots_and_leaves_are_where_edges_end(needs: dict[int, list[int]]) -> None:
    assert roots(needs) == [node for node in needs if not before(needs, node)]
    assert leaves(needs) == [node for node in needs if not any(node in before(needs, other) for other in needs)]


@given(ACYCLIC)
def test_the_longest_path_is_a_path_and_none_is_longer(needs: dict[int, list[int]]) -> None:
    def length(node: int) -> int:
        return 1 + max((length(one) for one in needs[node] if one in needs), default=0)

    path = longest_path(needs)

    assert all(first in needs[second] for first, second in pairwise(path))
    assert len(path) == max(map(length, needs), default=0)


@given(ACYCLIC)
def test_predecessors_are_all_that_lie_before(needs: dict[int, list[int]]) -> None:
    predecessors = Predecessors(needs)

    for node in range(9):
        comes_before = predecessors.before([node])
        found = {one for one in range(9) if comes_before(one)}
        assert found == (before(needs, node) | {node} if node in needs else set())


@given(ACYCLIC, st.sets(NODES))
def test_predecessors_of_several_are_those_of_each(needs: dict[int, list[int]], several: set[int]) -> None:
    predecessors = Predecessors(needs)

    comes_before = predecessors.before(several)

    assert [comes_before(one) for one in range(9)] == [
        any(predecessors.before([each])(one) for each in several) for one in range(9)
    ]


@given(ANY, st.sets(NODES))
def test_what_is_reached_is_what_ways_lead_to(ways: dict[int, list[int]], starts: set[int]) -> None:
    everywhere = {node: ways.get(node, []) for node in range(9)}

    assert reached_from(starts, ways) == starts | {one for start in starts for one in before(everywhere, start)}


@pytest.mark.timeout(10)
def test_a_chain_of_ten_thousand_is_no_trouble() -> None:
    assert find_cycle(DEEP) is None
    assert in_order(DEEP) == longest_path(DEEP) == list(range(10_000))
    assert (roots(DEEP), leaves(DEEP)) == ([0], [9_999])
    assert Predecessors(DEEP).before([9_999])(0)
    assert len(find_cycle({**DEEP, 0: [9_999]}) or []) == 10_000


def test_a_self_edge_is_a_cycle_and_a_cycle_is_told_from_its_beginning_to_it() -> None:
    assert find_cycle({"a": ["a"]}) == ["a"]
    assert told(["a", "b"]) == "a -> b -> a"


def test_a_long_cycle_is_told_by_its_beginning_and_its_length() -> None:
    words = told([f"t{number}" for number in range(2_000)])

    assert words.startswith("t0 -> t1 -> ")
    assert words.endswith(" -> t19 -> … (2000 in all) -> t0")
