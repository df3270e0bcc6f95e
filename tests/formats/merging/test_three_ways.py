"""Three ways: what an upload has done to a row of nodes is done to what the head has become."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from officeplane.formats.merging.three_ways import Plan, States, is_exact, merged
from officeplane.formats.merging.unit import Unit

EXACTLY = States()
_ROWS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["1", "2", "3"]), max_size=6)


def a_row(said: Mapping[str, str]) -> list[Unit]:
    return [a_unit(node_id, text) for node_id, text in said.items()]


def a_unit(node_id: str, text: str, *, is_title: bool = False, tied: frozenset[str] = frozenset()) -> Unit:
    return Unit(node_id, f"{node_id} {text}", text, text, is_title=is_title, tied=tied)


def result(plan: Plan) -> list[str]:
    return [one.result.exactly for one in plan.pieces]


def said(units: Sequence[Unit]) -> list[str]:
    return [one.exactly for one in units]


@given(_ROWS, _ROWS)
def test_a_head_that_nobody_has_changed_becomes_the_upload(base: dict[str, str], upload: dict[str, str]) -> None:
    plan = merged(a_row(base), a_row(base), a_row(upload), EXACTLY)

    assert plan.conflicts == []
    assert result(plan) == said(a_row(upload))


@given(_ROWS, _ROWS)
def test_an_upload_that_has_changed_nothing_changes_nothing(base: dict[str, str], head: dict[str, str]) -> None:
    plan = merged(a_row(base), a_row(head), a_row(base), EXACTLY)

    assert (plan.conflicts, plan.is_nothing) == ([], True)


@given(_ROWS, _ROWS)
def test_what_both_have_done_alike_is_done_once(base: dict[str, str], both: dict[str, str]) -> None:
    plan = merged(a_row(base), a_row(both), a_row(both), EXACTLY)

    assert (plan.conflicts, result(plan)) == ([], said(a_row(both)))


@given(_ROWS, _ROWS, _ROWS)
def test_nothing_that_either_has_written_is_gone(
    base: dict[str, str], head: dict[str, str], upload: dict[str, str]
) -> None:
    plan = merged(a_row(base), a_row(head), a_row(upload), EXACTLY)

    if not plan.conflicts:
        written = {*said(a_row(head)), *said(a_row(upload))} - {*said(a_row(base))}
        assert written <= {*result(plan)}


def test_what_both_have_changed_each_in_another_way_is_in_conflict() -> None:
    plan = merged(a_row({"a": "1", "b": "1"}), a_row({"a": "2", "b": "1"}), a_row({"a": "3", "b": "3"}), EXACTLY)

    (conflict,) = plan.conflicts
    assert (conflict.node_id, conflict.base, conflict.head, conflict.upload) == ("a", "1", "2", "3")


def test_two_insertions_at_one_place_are_both_there() -> None:
    base = [a_unit("a", "1"), a_unit("b", "1")]
    head, upload = ([base[0], a_unit("new", text), base[1]] for text in ("ours", "theirs"))

    plan = merged(base, head, upload, EXACTLY)

    assert sorted(result(plan)) == ["a 1", "b 1", "new ours", "new theirs"]


def test_a_heading_comes_behind_what_others_have_added_to_the_text_above_it() -> None:
    base = [a_unit("a", "1")]
    head = [*base, a_unit("more", "text")]
    upload = [*base, a_unit("title", "a title", is_title=True), a_unit("below", "it")]

    plan = merged(base, head, upload, EXACTLY)

    assert result(plan) == ["a 1", "more text", "title a title", "below it"]


def test_headings_between_other_texts_of_both_are_a_conflict() -> None:
    base = [a_unit("a", "1")]
    head = [*base, a_unit("b", "text"), a_unit("c", "ours", is_title=True)]
    upload = [*base, a_unit("d", "text of theirs"), a_unit("e", "theirs", is_title=True)]

    plan = merged(base, head, upload, EXACTLY)

    assert {one.node_id for one in plan.conflicts} == {"d", "e"}


def test_what_stands_behind_what_others_have_deleted_is_a_conflict() -> None:
    base = a_row({"a": "1", "b": "1"})

    plan = merged(base, a_row({"a": "1"}), [*base, a_unit("new", "text")], EXACTLY)

    assert [one.node_id for one in plan.conflicts] == ["new"]


def test_what_others_have_tied_to_a_node_keeps_it_from_being_deleted() -> None:
    plan = merged([a_unit("a", "1")], [a_unit("a", "1", tied=frozenset({"comment-1"}))], [], EXACTLY)

    assert [one.detail for one in plan.conflicts] == ["others have tied comment-1 to what the upload takes away"]


def test_a_program_that_writes_everything_anew_has_changed_only_what_looks_otherwise() -> None:
    base = [Unit("a", "as one writes it", "A", "A"), Unit("b", "as one writes it", "B", "B")]
    upload = [Unit("a", "as another does", "A", "A"), Unit("b", "as another does", "C", "C")]
    known = {one.id: one for one in base}

    plan = merged(base, base, upload, States(upload_is_exact=is_exact(known, upload, is_same_program=False)))

    assert [one.upload is not None for one in plan.pieces] == [False, True]
    assert is_exact(known, upload, is_same_program=True)
