"""Patches: what may be changed of a task while it waits, and what of that its batch's children follow.

A child follows in what it has in common with its parent: whether it was given
the same or inherited it is not kept.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel

from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import WAITING
from officeplane.domain.request import PriorityField, Tag, Text, Time, priority_value
from officeplane.domain.task import Task
from officeplane.domain.tree import Tree

OF_THE_WHOLE: Final = {"priority": "priority", "deadline": "deadline", "run_at": "runAt"}
"""What the children of an atomic batch have none of their own of."""


class TaskPatch(BaseModel):
    """What is to be changed of a waiting task; what is not named stays."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    priority: PriorityField | None = Field(default=None, description="How urgent it is from now on, as in a task.")
    deadline: Time | None = Field(default=None, description="When it should be done; null for no deadline.")
    run_at: Time | None = Field(default=None, description="When it may run at the earliest.")
    title: Annotated[Text, Field(max_length=200)] | None = Field(
        default=None, description="What people see of it in lists; null for none."
    )
    tags: Annotated[list[Tag], Field(max_length=50)] | None = Field(
        default=None, description="All words to find it by, in place of those it has."
    )

    @field_validator("priority", "run_at", "tags")
    @classmethod
    def _not_cleared(cls, value: object) -> object:
        if value is None:
            message = "it cannot be cleared; a deadline and a title can"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.model_fields_set:
            message = "name what to change: priority, deadline, runAt, title or tags"
            raise ValueError(message)
        return self


class Change(NamedTuple):
    """What can be changed of a task, as it is from now on."""

    id: TaskId
    title: str | None
    tags: tuple[str, ...]
    priority: int
    deadline: datetime | None
    run_at: datetime


def changes(target: Task, tree: Tree, tasks: Mapping[TaskId, Task], patch: TaskPatch) -> list[Change]:
    """Return what a patch changes: the task itself, and what of it those that wait below it follow."""
    found = [_patched(target, patch)]
    followed = [(target, found[0], patch.run_at is not None)]
    for parent, now, runs_first in followed:
        waiting = [tasks[node.id] for node in tree.children(parent.id) if node.state in WAITING]
        for index, child in enumerate(waiting):
            is_first = runs_first and index == 0
            change = _following(child, parent, now, is_first=is_first)
            followed.append((child, change, is_first))
            if change != _as_it_is(child):
                found.append(change)
    return found


def _patched(task: Task, patch: TaskPatch) -> Change:
    named = patch.model_fields_set
    return Change(
        task.id,
        patch.title if "title" in named else task.title,
        task.tags if patch.tags is None else tuple(patch.tags),
        task.priority if patch.priority is None else priority_value(patch.priority),
        patch.deadline if "deadline" in named else task.deadline,
        patch.run_at or task.run_at,
    )


def _following(child: Task, parent: Task, now: Change, *, is_first: bool) -> Change:
    run_at = now.run_at if child.run_at == parent.run_at else max(child.run_at, now.run_at)
    return Change(
        child.id,
        child.title,
        now.tags if child.tags == parent.tags else child.tags,
        now.priority if child.priority == parent.priority else child.priority,
        now.deadline if child.deadline == parent.deadline else child.deadline,
        # The others are due with their batch when their turn comes.
        run_at if is_first else child.run_at,
    )


def _as_it_is(task: Task) -> Change:
    return Change(task.id, task.title, task.tags, task.priority, task.deadline, task.run_at)
