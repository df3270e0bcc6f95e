"""`officeplane tasks show` and `explain`: one task in full, and why it waits."""

from officeplane.cli.answers import Child, Explanation, Task
from officeplane.cli.client import Client, task_path
from officeplane.cli.console import out, show, write_json
from officeplane.cli.details import children_tree, task_details
from officeplane.cli.texts import span, utc_now
from officeplane.cli.views import explanation_lines, failure_table
from officeplane.domain.batch import BATCH_TYPE
from officeplane.domain.lifecycle import ACTIVE


async def show_task(url: str, task_id: str, *, as_json: bool) -> None:
    """Print a task with its children and its failed attempts."""
    async with Client(url) as client:
        answer = await client.get(task_path(task_id))
        if as_json:
            write_json(answer.text)
            return
        task = Task.model_validate_json(answer.content)
        families = await _families(client, task)
        heard = await _heard(client, task)
    show(task_details(task, utc_now(), heard))
    if task.children:
        show("")
        show(children_tree(task, families))
    if task.failures:
        show("")
        show(failure_table(task.failures, utc_now(), out().width))


async def explain_task(url: str, task_id: str, *, as_json: bool) -> None:
    """Print why a task does not run."""
    async with Client(url) as client:
        answer = await client.get(task_path(task_id, "/explain"))
    if as_json:
        write_json(answer.text)
        return
    for line in explanation_lines(Explanation.model_validate_json(answer.content)):
        show(line)


async def _heard(client: Client, task: Task) -> str:
    """Say when the worker was heard last that has a task in hand; nothing of one that is in nobody's."""
    if task.state not in ACTIVE:
        return ""
    answer = await client.get(task_path(task.id, "/explain"))
    reasons = Explanation.model_validate_json(answer.content).reasons
    silent = [reason.silent_seconds for reason in reasons if reason.code in {"running", "cancelling"}]
    if not silent:
        return ""
    return "  (not heard of any more)" if silent[0] is None else f"  (last heard {span(silent[0])} ago)"


async def _families(client: Client, root: Task) -> dict[str, tuple[Child, ...]]:
    """Return the children of every batch under this task; a parent lists only its own."""
    families: dict[str, tuple[Child, ...]] = {}
    parents = [root]
    while parents:
        parent = parents.pop()
        families[parent.id] = parent.children or ()
        for child in families[parent.id]:
            if child.task_type == BATCH_TYPE:
                answer = await client.get(task_path(child.id))
                parents.append(Task.model_validate_json(answer.content))
    return families
