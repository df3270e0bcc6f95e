"""`officeplane dags submit` and `cancel`."""

from officeplane.cli.answers import Dag
from officeplane.cli.client import Client, dag_path
from officeplane.cli.console import remarks, show, write_json
from officeplane.cli.texts import compact


async def submit_dag(url: str, body: bytes, key: str | None, *, as_json: bool) -> None:
    """Hand in a DAG and print what was made of it."""
    headers = {} if key is None else {"Idempotency-Key": key}
    async with Client(url) as client:
        answer = await client.post("/api/dags", body, headers)
    if as_json:
        write_json(answer.text)
        return
    if answer.replayed:
        remarks().print("This key was used before: nothing new was submitted.")
    dag = Dag.model_validate_json(answer.content)
    show(f"{dag.id} is {dag.status}: {len(dag.tasks)} tasks")


async def cancel_dag(url: str, dag_id: str, reason: str | None, *, as_json: bool) -> None:
    """Cancel a DAG and print how it stands then."""
    body = compact({} if reason is None else {"reason": reason}).encode()
    async with Client(url) as client:
        answer = await client.post(dag_path(dag_id, "/cancel"), body)
    if as_json:
        write_json(answer.text)
        return
    dag = Dag.model_validate_json(answer.content)
    show(f"{dag.id} is {dag.status}" + ("; what runs was asked to stop" if dag.status == "running" else ""))
