"""The `officeplane tasks` commands: their arguments, and nothing heavy before one is chosen."""

import asyncio
from typing import Annotated, TypeGuard

import typer

from officeplane.cli.exits import ExitCode, UsageError
from officeplane.cli.options import DEFAULT_URL, AsJson, By, SomeTaskId, TaskId, TaskIds, Url
from officeplane.cli.tasks.filters import Filters, with_filters

app = typer.Typer(help="Submit tasks and see what becomes of them.", no_args_is_help=True)


@app.command("list")
@with_filters
def list_(
    filters: Filters,
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List tasks, the newest first."""
    from officeplane.cli.tasks.listing import list_tasks

    asyncio.run(list_tasks(url, filters, limit, as_json=as_json))


@app.command()
def show(task_id: TaskId, *, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """Show a task with its failed attempts and its children."""
    from officeplane.cli.tasks.showing import show_task

    asyncio.run(show_task(url, task_id, as_json=as_json))


@app.command()
def explain(task_id: TaskId, *, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """Say why a task waits."""
    from officeplane.cli.tasks.showing import explain_task

    asyncio.run(explain_task(url, task_id, as_json=as_json))


@app.command()
@with_filters
def cancel(
    filters: Filters,
    task_id: SomeTaskId = None,
    *,
    reason: Annotated[str | None, typer.Option(help="Why, for whoever asks later.")] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Cancel a task with its children, or all tasks that fit a filter; what runs is asked to stop."""
    from officeplane.cli.tasks.actions import cancel_task, change_many

    if _is_one(task_id, filters):
        asyncio.run(cancel_task(url, task_id, reason, as_json=as_json))
    else:
        body = filters if reason is None else {**filters, "reason": reason}
        asyncio.run(change_many(url, "cancel", body, "cancelled", as_json=as_json))


@app.command()
@with_filters
def retry(
    filters: Filters,
    task_id: SomeTaskId = None,
    *,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Queue a task again that is FAILED, TIMEOUT or CANCELLED, or all such tasks that fit a filter."""
    from officeplane.cli.tasks.actions import change_many, retry_task

    if _is_one(task_id, filters):
        asyncio.run(retry_task(url, task_id, as_json=as_json))
    else:
        asyncio.run(change_many(url, "retry", filters, "queued again", as_json=as_json))


@app.command()
def update(
    task_id: TaskId,
    *,
    priority: Annotated[str | None, typer.Option(help="CRITICAL to BACKGROUND, or 0 (most urgent) to 100.")] = None,
    deadline: Annotated[str | None, typer.Option(help="When it should be done (RFC 3339), or none.")] = None,
    run_at: Annotated[str | None, typer.Option(help="Not before this time (RFC 3339).", metavar="TIME")] = None,
    title: Annotated[str | None, typer.Option(help="A title for people.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag in place of those it has; may repeat.")] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Change a task while it waits."""
    from officeplane.cli.tasks.actions import update_task
    from officeplane.cli.tasks.bodies import parse_priority, without_nothing

    fields = without_nothing(
        {
            "priority": None if priority is None else parse_priority(priority),
            "deadline": deadline,
            "runAt": run_at,
            "title": title,
            "tags": [*(tag or ())],
        }
    )
    if deadline == "none":
        fields["deadline"] = None
    if not fields:
        raise UsageError("Give what to change.")
    asyncio.run(update_task(url, task_id, fields, as_json=as_json))


@app.command()
def submit(
    task_type: Annotated[str | None, typer.Argument(metavar="TYPE", help="A task type, such as noop.")] = None,
    *,
    document: Annotated[str | None, typer.Option(help="The document it works on.")] = None,
    payload: Annotated[str | None, typer.Option(help="JSON, @FILE, or - for stdin.", metavar="JSON")] = None,
    priority: Annotated[str | None, typer.Option(help="CRITICAL to BACKGROUND, or 0 (most urgent) to 100.")] = None,
    title: Annotated[str | None, typer.Option(help="A title for people.")] = None,
    max_retries: Annotated[int | None, typer.Option(help="Retries after failed attempts.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds that an attempt may take.")] = None,
    run_at: Annotated[str | None, typer.Option(help="Not before this time (RFC 3339).", metavar="TIME")] = None,
    deadline: Annotated[str | None, typer.Option(help="When it should be done (RFC 3339).", metavar="TIME")] = None,
    dedupe: Annotated[
        bool, typer.Option("--dedupe", help="Not while a task that does the same is unfinished.")
    ] = False,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may repeat.")] = None,
    body: Annotated[
        str | None,
        typer.Option(help="A whole request instead, one or a list: JSON, @FILE or -.", metavar="JSON"),
    ] = None,
    by: By = None,
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same key submits once.")] = None,
    wait: Annotated[float | None, typer.Option(min=0, help="Wait this long for its end.", metavar="SECONDS")] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Submit a task; with --wait, exit 0 only when it completed."""
    from officeplane.cli.tasks.bodies import parse_payload, parse_priority, read_argument, without_nothing
    from officeplane.cli.tasks.submitting import submit as hand_in
    from officeplane.cli.texts import compact
    from officeplane.cli.user import user_name

    fields = without_nothing(
        {
            "taskType": task_type,
            "documentId": document,
            "payload": None if payload is None else parse_payload(payload),
            "priority": None if priority is None else parse_priority(priority),
            "title": title,
            "maxRetries": max_retries,
            "timeoutSeconds": timeout,
            "runAt": run_at,
            "deadline": deadline,
            "dedupe": "content" if dedupe else None,
            "tags": [*(tag or ())],
            "onBehalfOf": by,
        }
    )
    if (body is None) == (task_type is None) or (body is not None and fields):
        raise UsageError("Give either a TYPE with its options, or a whole request with --body.")
    request = read_argument(body) if body is not None else compact({"onBehalfOf": user_name(), **fields}).encode()
    raise typer.Exit(asyncio.run(hand_in(url, request, key, wait, as_json=as_json)))


@app.command()
def watch(
    task_ids: TaskIds = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Follow the whole installation instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the API's JSON, one change a line.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Follow tasks until all are final; exit 0 only when all completed."""
    if everything == bool(task_ids):
        raise UsageError("Give the tasks to follow, or --all.")
    from officeplane.cli.tasks.presenting import watch_plane, watch_tasks

    try:
        if task_ids:
            raise typer.Exit(asyncio.run(watch_tasks(url, list(dict.fromkeys(task_ids)), as_json=as_json)))
        asyncio.run(watch_plane(url, as_json=as_json))
    except KeyboardInterrupt:
        # Whoever stops looking at everything has seen what they wanted; named tasks were not seen to end.
        raise typer.Exit(ExitCode.DONE if everything else ExitCode.REFUSED) from None


def _is_one(task_id: str | None, filters: Filters) -> TypeGuard[str]:
    """Tell whether one task is meant; refuse when nobody could tell."""
    if (task_id is None) == (not filters):
        raise UsageError("Give either a TASK_ID or filters such as --state and --type.")
    return task_id is not None
