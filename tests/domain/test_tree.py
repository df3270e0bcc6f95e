from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import ACTIVE, CLAIMABLE, FINAL, REOPENABLE, SETTLEABLE, TaskState
from officeplane.domain.tree import Reopened, TaskNode, Tree, cancelling, reopening
from tests.domain.worlds import BATCHES, Batch, World

PENDING, QUEUED, RUNNING = TaskState.PENDING, TaskState.QUEUED, TaskState.RUNNING
COMPLETED, FAILED, CANCELLED = TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELLED


def a_parent(state: TaskState, *, within: str | None = None, position: int = 0, name: str = "parent") -> TaskNode:
    return TaskNode(TaskId(name), None if within is None else TaskId(within), position, state, True, 0, False)


def a_child(name: str, state: TaskState, *, by_user: bool = False, within: str = "parent") -> TaskNode:
    position = int(name[-1])
    return TaskNode(TaskId(name), TaskId(within), position, state, False, int(state is PENDING), by_user)


def a_tree_of(*nodes: TaskNode) -> Tree:
    return Tree(nodes)


def states(placed: list[Reopened]) -> dict[str, TaskState]:
    return {str(one.id): one.state for one in placed}


def test_children_come_in_their_order_whatever_the_order_of_the_rows() -> None:
    tree = a_tree_of(a_child("c2", PENDING), a_child("c0", QUEUED), a_parent(QUEUED), a_child("c1", PENDING))

    assert [node.id for node in tree.children(TaskId("parent"))] == ["c0", "c1", "c2"]


def test_cancelling_a_task_that_waits_ends_it() -> None:
    tree = a_tree_of(a_parent(QUEUED), a_child("c0", QUEUED), a_child("c1", PENDING))

    plan = cancelling(tree, TaskId("c1"))

    assert set(plan.ended) == {"c1"}
    assert set(plan.asked) == set()


def test_cancelling_a_task_that_runs_asks_it() -> None:
    tree = a_tree_of(a_parent(RUNNING), a_child("c0", RUNNING), a_child("c1", PENDING))

    plan = cancelling(tree, TaskId("c0"))

    assert set(plan.ended) == set()
    assert set(plan.asked) == {"c0"}


def test_cancelling_a_batch_asks_it_too_while_something_in_it_runs() -> None:
    tree = a_tree_of(a_parent(RUNNING), a_child("c0", COMPLETED), a_child("c1", RUNNING), a_child("c2", PENDING))

    plan = cancelling(tree, TaskId("parent"))

    assert set(plan.ended) == {"c2"}
    assert set(plan.asked) == {"parent", "c1"}


def test_a_batch_between_two_attempts_ends_at_once() -> None:
    tree = a_tree_of(a_parent(RUNNING), a_child("c0", TaskState.RETRYING), a_child("c1", PENDING))

    plan = cancelling(tree, TaskId("parent"))

    assert set(plan.ended) == {"parent", "c0", "c1"}
    assert set(plan.asked) == set()


def test_retrying_a_lone_task_queues_it() -> None:
    lone = TaskNode(TaskId("lone"), None, 0, FAILED, False, 0, False)

    assert reopening(Tree([lone]), lone.id) == [Reopened(lone.id, QUEUED, 0)]


def test_retrying_the_child_that_failed_brings_back_what_never_had_its_turn() -> None:
    tree = a_tree_of(
        a_parent(FAILED), a_child("c0", COMPLETED), a_child("c1", FAILED), a_child("c2", CANCELLED),
        a_child("c3", CANCELLED, by_user=True),
    )  # fmt: skip

    assert states(reopening(tree, TaskId("c1"))) == {"parent": RUNNING, "c1": QUEUED, "c2": PENDING}


def test_retrying_a_batch_brings_back_everything_in_it_that_did_not_complete() -> None:
    tree = a_tree_of(
        a_parent(CANCELLED), a_child("c0", COMPLETED), a_child("c1", CANCELLED, by_user=True), a_child("c2", CANCELLED)
    )

    assert states(reopening(tree, TaskId("parent"))) == {"parent": QUEUED, "c1": QUEUED, "c2": PENDING}


def test_retrying_a_child_while_another_has_its_turn_makes_it_wait() -> None:
    tree = a_tree_of(a_parent(RUNNING), a_child("c0", FAILED), a_child("c1", RUNNING))

    assert reopening(tree, TaskId("c0")) == [Reopened(TaskId("c0"), PENDING, 1)]


def test_a_child_cancelled_before_its_batch_had_its_turn_waits_for_the_batch_when_it_is_retried() -> None:
    tree = a_tree_of(
        a_parent(RUNNING), a_child("c0", RUNNING),
        TaskNode(TaskId("inner"), TaskId("parent"), 1, PENDING, True, 1, False),
        a_child("i0", CANCELLED, by_user=True, within="inner"), a_child("i1", PENDING, within="inner"),
    )  # fmt: skip

    assert reopening(tree, TaskId("i0")) == [Reopened(TaskId("i0"), PENDING, 1)]


def test_what_a_user_cancelled_inside_a_batch_stays_so_when_that_batch_comes_back_with_its_sibling() -> None:
    tree = a_tree_of(
        a_parent(FAILED), a_child("c0", FAILED),
        TaskNode(TaskId("inner"), TaskId("parent"), 1, CANCELLED, True, 1, False),
        a_child("i0", CANCELLED, by_user=True, within="inner"), a_child("i1", CANCELLED, within="inner"),
    )  # fmt: skip

    assert states(reopening(tree, TaskId("c0"))) == {
        "parent": RUNNING, "c0": QUEUED, "inner": PENDING, "i1": PENDING,
    }  # fmt: skip


def test_retrying_a_child_of_a_batch_in_a_batch_reopens_the_whole_way_up() -> None:
    tree = a_tree_of(
        a_parent(FAILED, name="root"), a_parent(FAILED, within="root"), a_child("c0", COMPLETED),
        a_child("c1", TaskState.TIMEOUT), a_child("r1", CANCELLED, within="root"),
    )  # fmt: skip

    assert states(reopening(tree, TaskId("c1"))) == {
        "root": RUNNING, "parent": RUNNING, "c1": QUEUED, "r1": PENDING,
    }  # fmt: skip


MOVES = ("claim", "settle", "cancel", "retry")


def _move(world: World, data: st.DataObject) -> None:
    """Do one thing of those that can be done now."""
    every = list(world.nodes.values())
    choices = {
        "claim": world.leaves(*CLAIMABLE),
        "settle": world.leaves(*SETTLEABLE),
        "cancel": [node for node in every if node.state not in FINAL],
        "retry": [node for node in every if node.state in REOPENABLE],
    }
    action = data.draw(st.sampled_from([name for name in MOVES if choices[name]]), label="action")
    target = data.draw(st.sampled_from(choices[action]), label="target")
    match action:
        case "claim":
            world.claim(target)
        case "settle":
            outcomes = [COMPLETED, COMPLETED, FAILED, TaskState.TIMEOUT, TaskState.RETRYING, QUEUED]
            world.settle(target, data.draw(st.sampled_from(outcomes), label="outcome"))
        case "cancel":
            world.cancel(target)
        case _:
            world.retry(target)


def _is_over(world: World) -> bool:
    return all(node.state is COMPLETED for node in world.nodes.values())


@given(shape=BATCHES, data=st.data())
def test_whatever_is_done_to_a_tree_it_stays_one_that_the_ledger_can_hold(shape: Batch, data: st.DataObject) -> None:
    world = World.of(shape)
    assert list(world.faults()) == []

    for _ in range(data.draw(st.integers(0, 25), label="steps")):
        if _is_over(world):
            break
        _move(world, data)
        assert list(world.faults()) == []


@given(shape=BATCHES, data=st.data())
def test_whatever_was_done_to_a_tree_a_worker_brings_it_to_an_end(shape: Batch, data: st.DataObject) -> None:
    world = World.of(shape)
    for _ in range(data.draw(st.integers(0, 15), label="steps")):
        if _is_over(world):
            break
        _move(world, data)

    world.run_to_the_end()

    assert {node.state for node in world.nodes.values()} <= set(FINAL)


def _played(shape: Batch, data: st.DataObject, *wanted: TaskState) -> tuple[World, TaskNode | None]:
    """Return a world after some play, and a task of it in one of these states, if there is any."""
    world = World.of(shape)
    for _ in range(data.draw(st.integers(1, 15), label="steps")):
        if _is_over(world):
            break
        _move(world, data)
    found = [node for node in world.nodes.values() if node.state in wanted]
    return world, data.draw(st.sampled_from(found), label="target") if found else None


@given(shape=BATCHES, data=st.data())
def test_cancelling_ends_or_asks_everything_unfinished_below_and_touches_nothing_else(
    shape: Batch, data: st.DataObject
) -> None:
    world, target = _played(shape, data, *set(TaskState) - set(FINAL))
    if target is None:
        return
    tree = world.tree
    below = {node.id for node in tree.below(target.id)}

    plan = cancelling(tree, target.id)

    assert plan.ended | plan.asked == {node_id for node_id in below if tree.nodes[node_id].state not in FINAL}
    assert not plan.ended & plan.asked
    for node_id in plan.asked:
        assert any(node.state in ACTIVE and not node.is_batch for node in tree.below(node_id))
    for node_id in plan.ended:
        assert not any(node.state in ACTIVE and not node.is_batch for node in tree.below(node_id))


@given(shape=BATCHES, data=st.data())
def test_reopening_brings_back_the_target_and_nothing_that_a_user_or_success_ended_beside_it(
    shape: Batch, data: st.DataObject
) -> None:
    world, target = _played(shape, data, *REOPENABLE)
    if target is None:
        return
    before = world.tree
    below = {node.id for node in before.below(target.id)}
    above = {node.id for node in before.path(target.id)}

    plan = world.retry(target)

    reopened = {one.id for one in plan}
    assert len(reopened) == len(plan)
    assert reopened & below == {node_id for node_id in below if before.nodes[node_id].state in REOPENABLE}
    assert {node_id for node_id in above if before.nodes[node_id].state in FINAL} == reopened & above
    for node_id in reopened - below - above:
        beside = before.nodes[node_id]
        assert (beside.state, beside.cancel_requested) == (CANCELLED, False)
    for one in plan:
        assert (one.state is PENDING) == (one.blockers == 1)
        assert one.state is not RUNNING or one.id in above
    assert list(world.faults()) == []
