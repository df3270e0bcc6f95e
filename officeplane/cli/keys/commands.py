"""The `officeplane keys` commands: their arguments, and nothing heavy before one is chosen."""

from dataclasses import replace
from typing import Annotated

import typer

from officeplane.cli.options import whole
from officeplane.domain.principal import Scope
from officeplane.domain.space import DEFAULT

app = typer.Typer(
    help="Make, list, change, replace and revoke the keys by which callers are known.", no_args_is_help=True
)

Which = Annotated[str, typer.Argument(metavar="NAME-or-ID", help="The name of a key, or its id.", callback=whole)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
InSpace = Annotated[str, typer.Option(help="The space that the name is of.")]
Document = Annotated[
    list[str] | None,
    typer.Option(help="Only this document, or those that begin so: `plan-*`; `-`: tasks without one. Once for each."),
]
TaskType = Annotated[list[str] | None, typer.Option(help="Only this task type, or those that begin so. Once for each.")]
Agent = Annotated[list[str] | None, typer.Option(help="Only as this agent, or those that begin so. Once for each.")]
MaxPriority = Annotated[
    str | None, typer.Option(help="The most urgent it may ask for: CRITICAL to BACKGROUND, or 0 (most urgent) to 100.")
]
Quota = Annotated[
    list[str] | None,
    typer.Option(
        metavar="QUOTA=NUMBER", help="What it may use, such as maxWaitingTasks=1000; `none`: no limit. Once for each."
    ),
]
Expires = Annotated[
    str | None, typer.Option(help="After which time it ends to work, such as 30d or 12h.", metavar="TIME")
]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="By whom, or for what, it is used: letters, digits and . _ - @ :")],
    *,
    scope: Annotated[list[Scope], typer.Option(help="What it may do; once for each.")],
    space: Annotated[str, typer.Option(help="The space that it lives in, there from its first key on.")] = DEFAULT,
    document: Document = None,
    task_type: TaskType = None,
    agent: Agent = None,
    max_priority: MaxPriority = None,
    quota: Quota = None,
    expires: Expires = None,
    as_json: AsJson = False,
) -> None:
    """Make a key, and print it: this once, for nobody keeps it."""
    from officeplane.cli.keys.keeping import entries, me, most_urgent, on_keys, time_ahead
    from officeplane.cli.keys.showing import show_made
    from officeplane.cli.quotas import quotas_in
    from officeplane.domain.narrowing import Narrowing
    from officeplane.domain.quota import UNLIMITED

    expires_at = None if expires is None else time_ahead("--expires", expires)
    urgency = 0 if max_priority is None else most_urgent(max_priority)
    only = Narrowing(entries(document), entries(task_type), urgency, entries(agent))
    limits = replace(UNLIMITED, **quotas_in(quota or ()))
    made = on_keys(lambda keys: keys.create(me(), name, scope, expires_at, space=space, narrowing=only, quotas=limits))
    show_made(made, as_json=as_json)


@app.command("list")
def list_(
    *, space: Annotated[str | None, typer.Option(help="Only those of this space.")] = None, as_json: AsJson = False
) -> None:
    """List all keys in the order in which they were made, those that do not work any more too."""
    from officeplane.cli.keys.keeping import all_keys, on_keys
    from officeplane.cli.keys.showing import show_keys

    show_keys(on_keys(lambda keys: all_keys(keys, space)), as_json=as_json)


@app.command()
def update(
    which: Which,
    *,
    space: InSpace = DEFAULT,
    name: Annotated[str | None, typer.Option(help="What it is called from now on.")] = None,
    scope: Annotated[list[Scope] | None, typer.Option(help="All that it may do from now on; once for each.")] = None,
    document: Document = None,
    task_type: TaskType = None,
    agent: Agent = None,
    max_priority: MaxPriority = None,
    quota: Quota = None,
    expires: Expires = None,
    as_json: AsJson = False,
) -> None:
    """Change a key that works; what is not named stays. A list of `*` alone is narrowed no more."""
    from officeplane.cli.exits import UsageError
    from officeplane.cli.keys.keeping import entries, most_urgent, on_keys, time_ahead, updated
    from officeplane.cli.keys.showing import show_updated
    from officeplane.cli.quotas import quotas_in
    from officeplane.services.access.api_keys import KeyChanges

    changes: KeyChanges = {}
    if name is not None:
        changes["name"] = name
    if scope:
        changes["scopes"] = scope
    if document:
        changes["documents"] = entries(document)
    if task_type:
        changes["task_types"] = entries(task_type)
    if agent:
        changes["agents"] = entries(agent)
    if max_priority is not None:
        changes["most_urgent"] = most_urgent(max_priority)
    if expires is not None:
        changes["expires_at"] = time_ahead("--expires", expires)
    limits = quotas_in(quota or ())
    if not changes and not limits:
        message = (
            "Say what to change: --name, --scope, --document, --task-type, --agent, --max-priority, --quota or "
            "--expires."
        )
        raise UsageError(message)
    show_updated(on_keys(lambda keys: updated(keys, which, space, changes, limits)), as_json=as_json)


@app.command()
def rotate(
    which: Which,
    *,
    space: InSpace = DEFAULT,
    overlap: Annotated[
        str, typer.Option(help="For how long the old one works yet, such as 1d; 0 if no longer at all.", metavar="TIME")
    ] = "1d",
    as_json: AsJson = False,
) -> None:
    """Make a key in the place of another, which may do the same, and print it."""
    from officeplane.cli.keys.keeping import on_keys, rotated
    from officeplane.cli.keys.showing import show_made
    from officeplane.cli.spans import seconds_in

    overlap_seconds = seconds_in("--overlap", overlap)
    show_made(on_keys(lambda keys: rotated(keys, which, space, overlap_seconds)), as_json=as_json)


@app.command()
def revoke(which: Which, *, space: InSpace = DEFAULT, as_json: AsJson = False) -> None:
    """Have a key work no more, in any process, within a second; with a name all of that name."""
    from officeplane.cli.keys.keeping import me, on_keys
    from officeplane.cli.keys.showing import show_revoked

    show_revoked(on_keys(lambda keys: keys.revoke_all(me(), which, space)), as_json=as_json)


@app.command()
def generate() -> None:
    """Print the text of a new key, known to no installation yet: for OFFICEPLANE_ADMIN_KEY."""
    from officeplane.services.access.api_keys import new_key_text

    typer.echo(new_key_text())
