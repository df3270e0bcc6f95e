"""Answers that are made here rather than by FastAPI, which would check each view once more."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pydantic import TypeAdapter
from starlette.responses import Response

from officeplane.api.views import TaskView, View, task_view
from officeplane.domain.task import TaskDetails

_TASKS: Final = TypeAdapter(list[TaskView])


def json_answer(view: View, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a view as JSON."""
    return Response(view.__pydantic_serializer__.to_json(view), status, headers, "application/json")


def one_task(details: TaskDetails, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a task as JSON."""
    return json_answer(task_view(details), status, headers)


def many_tasks(many: Iterable[TaskDetails], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return tasks as a JSON array."""
    return Response(_TASKS.dump_json([task_view(details) for details in many]), status, headers, "application/json")


def many_views(views: Sequence[View], headers: Mapping[str, str] | None = None) -> Response:
    """Return views as a JSON array."""
    parts = b",".join(view.__pydantic_serializer__.to_json(view) for view in views)
    return Response(b"[" + parts + b"]", 200, headers, "application/json")
