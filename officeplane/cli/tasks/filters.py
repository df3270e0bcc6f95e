"""Which tasks a command means: the options of those commands that are about all tasks that fit them."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, Concatenate, Final, ParamSpec, TypeAlias, cast

import typer

from officeplane.cli.options import ParentId

Filters: TypeAlias = dict[str, str | list[str]]
"""What was given, as the API calls it."""

Own = ParamSpec("Own")


def with_filters(command: Callable[Concatenate[Filters, Own], None]) -> Callable[Own, None]:
    """Give a command the options of `_filters` before its own, and what was given of them as its first argument."""

    @wraps(command)
    def run(*arguments: Own.args, **options: Own.kwargs) -> None:
        given = {name: options.pop(name) for name in _OPTIONS}
        command(_filters(**cast("dict[str, Any]", given)), *arguments, **options)

    _, *own = signature(command, eval_str=True).parameters.values()
    named = [parameter for parameter in own if parameter.kind is Parameter.KEYWORD_ONLY]
    before = [parameter for parameter in own if parameter.kind is not Parameter.KEYWORD_ONLY]
    # typer reads the options of a command from its signature.
    cast("Any", run).__signature__ = signature(command).replace(parameters=[*before, *_OPTIONS.values(), *named])
    return run


def _filters(
    *,
    state: Annotated[list[str] | None, typer.Option(help="Only these states; may repeat.", metavar="STATE")] = None,
    document: Annotated[str | None, typer.Option(help="Only tasks of this document.")] = None,
    task_type: Annotated[str | None, typer.Option("--type", help="Only tasks of this type.")] = None,
    priority: Annotated[str | None, typer.Option(help="Only this priority, by name.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only tasks with this tag.")] = None,
    created_by: Annotated[str | None, typer.Option(help="Only what this caller asked for.", metavar="CALLER")] = None,
    by: Annotated[str | None, typer.Option(help="Only what was asked for in this name.", metavar="WHO")] = None,
    since: Annotated[
        str | None, typer.Option(help="Only created at this time or later, such as 2026-01-05T08:00Z.", metavar="TIME")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only created before this time.", metavar="TIME")] = None,
    parent: ParentId = None,
) -> Filters:
    filters: dict[str, str | list[str] | None] = {
        "state": [*map(str.upper, state or ())],
        "documentId": document,
        "taskType": task_type,
        "priority": priority and priority.upper(),
        "tag": tag,
        "parentId": parent,
        "createdBy": created_by,
        "onBehalfOf": by,
        "since": since,
        "until": until,
    }
    return {name: value for name, value in filters.items() if value}


_OPTIONS: Final = signature(_filters).parameters
