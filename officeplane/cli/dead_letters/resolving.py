"""`officeplane dead-letters resolve`: a decision about one letter, or about all of one cause."""

import json

from pydantic import JsonValue

from officeplane.cli.client import Client, letter_path
from officeplane.cli.console import remarks, show, write_json
from officeplane.cli.dead_letters.answers import Letter, Part
from officeplane.cli.exits import ExitCode
from officeplane.cli.texts import compact


async def resolve_one(url: str, task_id: str, body: dict[str, JsonValue], *, as_json: bool) -> None:
    """Carry out a decision about one letter and print what became of it."""
    async with Client(url) as client:
        answer = await client.post(letter_path(task_id, "/resolve"), compact(body).encode())
    if as_json:
        write_json(answer.text)
        return
    letter = Letter.model_validate_json(answer.content)
    show(f"{letter.task_id} is {f'resolved: {letter.resolution}' if letter.resolution else 'still unresolved'}")


async def resolve_alike(url: str, body: dict[str, JsonValue], *, as_json: bool) -> ExitCode:
    """Carry it out for all letters of a cause, part by part, and print how many; tell whether all could be done."""
    whole: Part | None = None
    async with Client(url) as client:
        cursor: str | None = None
        while whole is None or cursor is not None:
            given = body if cursor is None else {**body, "cursor": cursor}
            answer = await client.post(letter_path("resolve"), compact(given).encode())
            part = Part.model_validate_json(answer.content)
            cursor = part.cursor
            whole = part if whole is None else whole.and_then(part)
            if cursor is not None:
                remarks().print(f"{whole.count} done, going on …")
    if as_json:
        write_json(json.dumps(whole.model_dump(mode="json", by_alias=True), ensure_ascii=False))
    else:
        show(f"{whole.count} done ({whole.decision}), {len(whole.skipped)} could not be")
        for skipped in whole.skipped:
            remarks().print(f"{skipped.task_id}: {skipped.detail}")
    return ExitCode.REFUSED if whole.skipped else ExitCode.DONE
