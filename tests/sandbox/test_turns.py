"""Turns: who waits for which child, and how long."""

import asyncio
import os
import signal

import pytest

from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from officeplane.sandbox import pool
from officeplane.sandbox.pool import Sandbox
from tests.sandbox.asking import AFile, text
from tests.sandbox.processes import asleep, born, the_child

BLANK = AFile(blank(Format.DOCX, "A title"))
OTHER = AFile(blank(Format.XLSX, None), Format.XLSX)


async def opened(sandbox: Sandbox, file: AFile, document: str) -> None:
    body, attached = file.opened_for(text(file.sha256))
    assert "text" in (await sandbox.ask(body, attached, document=document)).body


async def test_a_request_waits_for_the_child_that_has_its_document_open(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slowly that child answers the others.
    monkeypatch.setattr(pool, "LINGER_SECONDS", 30.0)
    monkeypatch.setattr(pool, "PATIENCE_SECONDS", 30.0)
    await asyncio.gather(opened(sandbox, BLANK, "one"), opened(sandbox, OTHER, "two"))
    assert len(born()) == 2

    answers = await asyncio.gather(*(sandbox.ask(text(BLANK.sha256), document="one") for _ in range(4)))

    assert all("text" in answer.body for answer in answers)


async def test_it_does_not_wait_long_while_another_child_has_nothing_to_do(sandbox: Sandbox) -> None:
    await opened(sandbox, BLANK, "one")
    child = the_child()
    os.kill(child, signal.SIGSTOP)
    await asleep(child)
    stuck = asyncio.ensure_future(sandbox.ask(text(BLANK.sha256), document="one"))
    await asyncio.sleep(0)

    async with asyncio.timeout(10):
        assert (await sandbox.ask(text(BLANK.sha256), document="one")).body == {"missing": BLANK.sha256}

    os.kill(child, signal.SIGCONT)
    assert "text" in (await stuck).body


async def test_who_is_cancelled_while_waiting_leaves_the_turn_to_others() -> None:
    sandbox = Sandbox(1)
    await opened(sandbox, BLANK, "one")
    child = the_child()
    os.kill(child, signal.SIGSTOP)
    await asleep(child)
    working, waiting = (asyncio.ensure_future(sandbox.ask(text(BLANK.sha256), document="one")) for _ in range(2))
    await asyncio.sleep(0)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    os.kill(child, signal.SIGCONT)
    assert "text" in (await working).body
    assert "text" in (await sandbox.ask(text(BLANK.sha256), document="one")).body
    await sandbox.close()


async def test_who_is_cancelled_just_when_the_turn_came_gives_it_back() -> None:
    sandbox = Sandbox(1)
    await opened(sandbox, BLANK, "one")
    for _ in range(20):
        working, waiting = (asyncio.ensure_future(sandbox.ask(text(BLANK.sha256), document="one")) for _ in range(2))
        await working
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    async with asyncio.timeout(10):
        await sandbox.ask(text(BLANK.sha256), document="one")
    await sandbox.close()
