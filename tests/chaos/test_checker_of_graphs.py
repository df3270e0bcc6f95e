"""The checker finds every violation in stories of tasks that wait for others, and nothing in those without one."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.checker import check
from tests.chaos.evidence import DagRow
from tests.chaos.graph_story import GraphStory
from tests.chaos.history import Wanted

Tale = Callable[[GraphStory], None]
DIAMOND = {"top": (), "left": ("top",), "right": ("top",), "bottom": ("left", "right")}


def a_diamond_completes(story: GraphStory) -> None:
    """Each task begins when all that it depends on have completed."""
    story.dag("dag", DIAMOND)
    story.done("top")
    story.released("left")
    story.released("right")
    story.done("right")
    story.done("left")
    story.released("bottom")
    story.done("bottom")
    story.judged("dag", "completed")


def a_dag_is_stuck(story: GraphStory) -> None:
    """What depends on a failure stays behind it."""
    story.dag("dag", DIAMOND)
    story.done("top")
    story.released("left")
    story.released("right")
    story.done("left")
    story.claimed("right")
    story.failed("right", "permanent", then="FAILED")
    story.judged("dag", "failed")
    story.change("bottom", blockers=1, unmet=1)


def a_stuck_dag_is_helped(story: GraphStory) -> None:
    """A retry of what failed lets the others go on."""
    a_dag_is_stuck(story)
    story.operation("retry", target="right", status=200)
    story.event("right", "QUEUED")
    story.done("right")
    story.released("bottom")
    story.done("bottom")
    story.judged("dag", "completed")


def a_dependency_is_cancelled(story: GraphStory) -> None:
    """It takes along what waits for it, and nothing can depend on it from then on."""
    story.task("first")
    story.dependent("second", "first")
    story.dependent("third", "second")
    story.operation("cancel", target="first", status=200)
    story.cancelled_together("first", "second", "third")
    wanted = (Wanted("fourth", needs=("first",)),)
    story.operation("submit", status=422, code="invalid_reference", wanted=wanted)


def a_dag_is_cancelled(story: GraphStory) -> None:
    """What has not begun ends at once, what runs a little later."""
    story.dag("dag", {"one": (), "two": ("one",), "three": ()})
    story.claimed("one")
    story.cancelled_together("two", "three")
    story.operation("cancel_dag", target="dag", status=202)
    story.wait(1)
    story.mark("end", "one", 1)
    story.cancelled("one")
    story.evidence.dags["dag"] = DagRow("dag", "dag", "running", cancel_requested=True)
    story.judged("dag", "cancelled")


def a_parent_waits(story: GraphStory) -> None:
    """It gives its document back, goes on when its child has completed, and has what that returned."""
    story.spawner("parent", "child", document="doc")
    story.claimed("parent")
    story.spawned("child", by="parent")
    story.change("child", document_id="doc")
    story.suspended("parent", "child")
    story.done("child")
    story.released("parent")
    story.claimed("parent")
    story.completed("parent", given=("child#1",))


def a_child_is_spawned_anew(story: GraphStory) -> None:
    """Once it was cancelled, with who waited for it, an explicit retry replaces it."""
    story.spawner("parent", "child")
    story.claimed("parent")
    story.spawned("child", by="parent")
    story.suspended("parent", "child")
    story.cancelled_together("child", "parent")
    story.operation("retry", target="parent", status=200)
    story.evidence.edges.clear()
    story.change("parent", blockers=0, unmet=0)
    story.event("parent", "QUEUED")
    story.claimed("parent")
    story.spawned("other child", by="parent", key="child")
    story.change("other child", title="child")
    story.suspended("parent", "other child")
    story.claimed("other child")
    story.completed("other child", result_token="child")
    story.released("parent")
    story.claimed("parent")
    story.completed("parent", given=("child#1",))


def a_fan_in_is_not_counted(story: GraphStory) -> None:
    story.dag("dag", DIAMOND)
    story.done("top")
    story.released("left")
    story.released("right")
    story.done("left")
    story.released("bottom")
    story.done("right")
    story.done("bottom")
    story.judged("dag", "completed")


def a_task_goes_on_after_a_failure(story: GraphStory) -> None:
    a_dag_is_stuck(story)
    story.released("bottom")
    story.done("bottom")


def a_task_becomes_ready_twice(story: GraphStory) -> None:
    story.task("first")
    story.dependent("second", "first")
    story.done("first")
    story.released("second")
    story.event("second", "PENDING")
    story.released("second")
    story.done("second")


def a_wake_up_is_lost(story: GraphStory) -> None:
    story.task("first")
    story.dependent("second", "first")
    story.done("first")


def a_blocker_is_taken_twice(story: GraphStory) -> None:
    a_dag_is_stuck(story)
    story.change("bottom", blockers=0, unmet=0)


def a_dependent_outlives_what_was_cancelled(story: GraphStory) -> None:
    story.task("first")
    story.dependent("second", "first")
    story.cancelled("first")


def a_dependent_is_cancelled_too_late(story: GraphStory) -> None:
    story.task("first")
    story.dependent("second", "first")
    story.cancelled("first")
    story.cancelled("second")


def a_dependent_is_told_of_first(story: GraphStory) -> None:
    story.task("first")
    story.dependent("second", "first")
    story.done("first")
    last = story.evidence.events[-1]
    story.evidence.events[-1] = replace(last, position="900-9-0")
    story.evidence.heard = {"900-9-0"}
    story.released("second")
    story.done("second")


def a_dag_hides_a_failure(story: GraphStory) -> None:
    a_dag_is_stuck(story)
    story.judged("dag", "completed")


def a_dag_ends_too_early(story: GraphStory) -> None:
    story.dag("dag", {"one": (), "two": ()})
    story.done("one")
    story.claimed("two")
    story.judged("dag", "completed")
    story.completed("two")


def the_end_of_a_dag_is_not_told(story: GraphStory) -> None:
    a_diamond_completes(story)
    story.evidence.dag_events.clear()


def a_dag_never_hears_of_its_tasks(story: GraphStory) -> None:
    a_diamond_completes(story)
    story.evidence.dag_events.clear()
    story.evidence.dags["dag"] = DagRow("dag", "dag", "running")


def a_cancelled_dag_goes_on(story: GraphStory) -> None:
    story.dag("dag", {"one": (), "two": ("one",)})
    story.operation("cancel_dag", target="dag", status=200)
    story.wait(1)
    story.done("one")
    story.released("two")
    story.done("two")
    story.judged("dag", "completed")


def a_node_is_given_a_wrong_result(story: GraphStory) -> None:
    a_diamond_completes(story)
    operation = story.evidence.history[-1]
    *others, bottom = operation.wanted[0].children
    operation.wanted = (Wanted("dag", (*others, replace(bottom, echo="left"))),)
    story.change("bottom", result_echo="right")


def a_dag_is_stored_in_part(story: GraphStory) -> None:
    a_diamond_completes(story)
    (wanted,) = story.evidence.history[-1].wanted
    story.evidence.history[-1].wanted = (replace(wanted, children=(*wanted.children, Wanted("more"))),)


def a_dag_is_stored_twice(story: GraphStory) -> None:
    a_diamond_completes(story)
    story.evidence.dags["other"] = DagRow("other", "dag", "completed")


def an_acknowledged_dag_is_lost(story: GraphStory) -> None:
    story.operation("dag", status=201, wanted=(Wanted("dag", (Wanted("one"),)),), task_ids=("one",), dag_id="dag")


def an_edge_is_lost(story: GraphStory) -> None:
    a_diamond_completes(story)
    del story.evidence.edges[-1]


def a_dependency_is_refused_for_nothing(story: GraphStory) -> None:
    story.task("first")
    wanted = (Wanted("second", needs=("first",)),)
    story.operation("submit", status=422, code="invalid_reference", wanted=wanted)
    story.done("first")


def what_was_refused_is_there(story: GraphStory) -> None:
    a_dependency_is_cancelled(story)
    story.task("fourth")
    story.done("fourth")


def a_key_spawns_twice(story: GraphStory) -> None:
    story.spawner("parent", "child", waits=False)
    story.claimed("parent")
    story.spawned("child", by="parent")
    story.done("child")
    story.spawned("other child", by="parent", key="child")
    story.change("other child", title="child")
    story.claimed("other child")
    story.completed("other child", result_token="child")
    story.completed("parent")


def a_child_is_spawned_anew_without_a_retry(story: GraphStory) -> None:
    story.spawner("parent", "child", waits=False)
    story.claimed("parent")
    story.spawned("child", by="parent")
    story.cancelled("child")
    story.spawned("other child", by="parent", key="child")
    story.change("other child", title="child")
    story.claimed("other child")
    story.completed("other child", result_token="child")
    story.completed("parent")


def nobody_asked_to_spawn_it(story: GraphStory) -> None:
    story.spawner("parent", waits=False)
    story.claimed("parent")
    story.spawned("child", by="parent")
    story.done("child")
    story.completed("parent")


def a_child_is_never_spawned(story: GraphStory) -> None:
    story.spawner("parent", "child", waits=False)
    story.done("parent")


def a_child_leaves_the_dag(story: GraphStory) -> None:
    story.dag("dag", {"parent": ()})
    story.change("parent", task_type="chaos.spawner")
    story.evidence.history[-1].wanted = (Wanted("dag", (Wanted("parent", spawns=("child",)),)),)
    story.claimed("parent")
    story.spawned("child", by="parent")
    story.change("child", dag_id=None)
    story.done("child")
    story.completed("parent")
    story.judged("dag", "completed")


def a_parent_goes_on_too_early(story: GraphStory) -> None:
    story.spawner("parent", "child")
    story.claimed("parent")
    story.spawned("child", by="parent")
    story.suspended("parent", "child")
    story.claimed("child")
    story.released("parent")
    story.completed("child")
    story.claimed("parent")
    story.completed("parent", given=("child#1",))


def a_parent_is_given_what_its_child_never_returned(story: GraphStory) -> None:
    a_parent_waits(story)
    story.change("parent", given=("child#2",))


def a_parent_waits_for_nothing(story: GraphStory) -> None:
    story.spawner("parent", "child")
    story.claimed("parent")
    story.spawned("child", by="parent")
    story.done("child")
    story.suspended("parent", "child")
    story.released("parent")
    story.claimed("parent")
    story.completed("parent", given=("child#1",))


def a_forsaken_child_goes_on(story: GraphStory) -> None:
    story.spawner("parent", "child")
    story.claimed("parent")
    story.spawned("child", by="parent")
    story.suspended("parent", "child")
    story.operation("cancel", target="parent", status=200)
    story.cancelled("parent")
    story.done("child")


def a_plain_task_waits(story: GraphStory) -> None:
    story.task("plain")
    story.claimed("plain")
    story.event("plain", "PENDING")
    story.event("plain", "QUEUED")
    story.done("plain")


def a_wait_is_not_counted(story: GraphStory) -> None:
    a_parent_waits(story)
    story.evidence.counters["pending"] = 0


CLEAN: list[Tale] = [
    a_diamond_completes,
    a_dag_is_stuck,
    a_stuck_dag_is_helped,
    a_dependency_is_cancelled,
    a_dag_is_cancelled,
    a_parent_waits,
    a_child_is_spawned_anew,
]
VIOLATIONS: list[tuple[str, Tale]] = [
    ("I14", a_fan_in_is_not_counted),
    ("I14", a_task_goes_on_after_a_failure),
    ("I14", a_task_becomes_ready_twice),
    ("L1", a_wake_up_is_lost),
    ("I14", a_blocker_is_taken_twice),
    ("I14", a_dependent_outlives_what_was_cancelled),
    ("I14", a_dependent_is_cancelled_too_late),
    ("I16", a_dependent_is_told_of_first),
    ("I14", a_dag_hides_a_failure),
    ("I14", a_dag_ends_too_early),
    ("I14", the_end_of_a_dag_is_not_told),
    ("I14", a_dag_never_hears_of_its_tasks),
    ("I14", a_cancelled_dag_goes_on),
    ("I14", a_node_is_given_a_wrong_result),
    ("I13", a_dag_is_stored_in_part),
    ("I13", a_dag_is_stored_twice),
    ("I13", an_acknowledged_dag_is_lost),
    ("I13", an_edge_is_lost),
    ("L2", a_dependency_is_refused_for_nothing),
    ("I13", what_was_refused_is_there),
    ("I14", a_key_spawns_twice),
    ("I14", a_child_is_spawned_anew_without_a_retry),
    ("I13", nobody_asked_to_spawn_it),
    ("I14", a_child_is_never_spawned),
    ("I14", a_child_leaves_the_dag),
    ("I14", a_parent_goes_on_too_early),
    ("I14", a_parent_is_given_what_its_child_never_returned),
    ("I14", a_parent_waits_for_nothing),
    ("I14", a_forsaken_child_goes_on),
    ("I1", a_plain_task_waits),
    ("I16", a_wait_is_not_counted),
]


@pytest.mark.parametrize("tale", CLEAN)
def test_nothing_is_found_where_nothing_is_wrong(tale: Tale) -> None:
    story = GraphStory()

    tale(story)

    assert check(story.evidence) == []


@pytest.mark.parametrize(("invariant", "tale"), VIOLATIONS, ids=[tale.__name__ for _, tale in VIOLATIONS])
def test_it_is_found_that(invariant: str, tale: Tale) -> None:
    story = GraphStory()

    tale(story)

    assert invariant in {violation.invariant for violation in check(story.evidence)}
