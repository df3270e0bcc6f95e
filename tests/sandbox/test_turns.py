"""Turns: who waits for which child, and how long."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import uvloop

from officeplane.domain.document import Format
from officeplane.domain.errors import OverloadedError
from officeplane.formats.blank import blank
from officeplane.sandbox import turns
from officeplane.sandbox.answers import accepted
from officeplane.sandbox.children import Idle
from officeplane.sandbox.errors import ChildDiedError
from officeplane.sandbox.operations import Check
from officeplane.sandbox.pool import Sandbox
from officeplane.sandbox.turns import Queue, Turns
from tests.sandbox.asking import AFile, missing, said, text
from tests.sandbox.processes import asleep, born, gone, the_child

BLANK = AFile(blank(Format.DOCX, "A title"))
OTHER = AFile(blank(Format.XLSX, None), Format.XLSX)


async def opened(sandbox: Sandbox, file: AFile, document: str) -> None:
    said(await sandbox.ask(text(file), document=document, file=file.to_open()))


async def test_a_request_waits_for_the_child_that_has_its_document_open(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slowly that child answers the others.
    monkeypatch.setattr(turns, "SHORT_AFFINITY_WAIT_SECONDS", 30.0)
    monkeypatch.setattr(turns, "AFFINITY_WAIT_SECONDS", 30.0)
    await asyncio.gather(opened(sandbox, BLANK, "one"), opened(sandbox, OTHER, "two"))
    assert len(born()) == 2

    answers = await asyncio.gather(*(sandbox.ask(text(BLANK), document="one") for _ in range(4)))

    for answer in answers:
        said(answer)


async def test_it_does_not_wait_long_while_another_child_has_nothing_to_do(sandbox: Sandbox) -> None:
    await opened(sandbox, BLANK, "one")
    child = the_child()
    os.kill(child, signal.SIGSTOP)
    await asleep(child)
    stuck = asyncio.ensure_future(sandbox.ask(text(BLANK), document="one"))
    await asyncio.sleep(0)

    async with asyncio.timeout(30):
        assert missing(await sandbox.ask(text(BLANK), document="one")) == BLANK.state

    os.kill(child, signal.SIGCONT)
    said(await stuck)


def test_it_does_not_wait_long_on_a_loop_whose_clock_is_coarse() -> None:
    async def waited_often() -> None:
        turns = Turns(2, Idle(), None)
        async with turns.turn("one"):
            for _ in range(100):
                async with asyncio.timeout(30), turns.turn("one") as child:
                    assert child is None

    # Its time is in whole milliseconds, and so much later is not always so much later in fractions of a second.
    uvloop.run(waited_often())


async def test_who_is_cancelled_while_waiting_leaves_the_turn_to_others() -> None:
    sandbox = Sandbox(1)
    await opened(sandbox, BLANK, "one")
    child = the_child()
    os.kill(child, signal.SIGSTOP)
    await asleep(child)
    working, waiting = (asyncio.ensure_future(sandbox.ask(text(BLANK), document="one")) for _ in range(2))
    await asyncio.sleep(0)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    os.kill(child, signal.SIGCONT)
    said(await working)
    said(await sandbox.ask(text(BLANK), document="one"))
    await sandbox.close()


async def test_who_is_cancelled_just_when_the_turn_came_gives_it_back() -> None:
    sandbox = Sandbox(1)
    await opened(sandbox, BLANK, "one")
    for _ in range(20):
        working, waiting = (asyncio.ensure_future(sandbox.ask(text(BLANK), document="one")) for _ in range(2))
        await working
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    async with asyncio.timeout(30):
        await sandbox.ask(text(BLANK), document="one")
    await sandbox.close()


@asynccontextmanager
async def one_that_is_stuck(sandbox: Sandbox) -> AsyncGenerator[int]:
    """Have the only turn be taken by a child that does not go on, and let it go on afterwards."""
    await opened(sandbox, BLANK, "one")
    child = the_child()
    os.kill(child, signal.SIGSTOP)
    await asleep(child)
    stuck = asyncio.ensure_future(sandbox.ask(text(BLANK), document="one"))
    await asyncio.sleep(0)
    try:
        yield child
    finally:
        os.kill(child, signal.SIGCONT)
        await asyncio.wait({stuck})
        await sandbox.close()


async def test_a_file_on_its_way_in_does_not_wait_behind_readers() -> None:
    sandbox = Sandbox(1)
    async with one_that_is_stuck(sandbox), asyncio.timeout(30):
        assert accepted(await sandbox.ask(Check(), file=BLANK.to_look_at())).format is Format.DOCX


async def test_when_enough_wait_the_next_is_told_so_at_once() -> None:
    sandbox = Sandbox(1, Queue(length_max=2, seconds_max=600.0))
    async with one_that_is_stuck(sandbox) as child:
        waiting = [asyncio.ensure_future(sandbox.ask(text(BLANK), document="one")) for _ in range(2)]
        await asyncio.sleep(0)

        with pytest.raises(OverloadedError, match="2 requests wait"):
            await sandbox.ask(text(BLANK), document="two")

        os.kill(child, signal.SIGCONT)
        for answer in await asyncio.gather(*waiting):
            said(answer)


async def test_nobody_waits_for_longer_than_was_said() -> None:
    sandbox = Sandbox(1, Queue(length_max=2, seconds_max=0.2))
    async with one_that_is_stuck(sandbox):
        with pytest.raises(OverloadedError, match="for too long"):
            await sandbox.ask(text(BLANK), document="two")

        # Who has given up is in nobody's way.
        with pytest.raises(OverloadedError, match="for too long"):
            await asyncio.gather(*(sandbox.ask(text(BLANK), document="two") for _ in range(2)))


async def test_a_child_that_says_nothing_is_ended_in_time() -> None:
    sandbox = Sandbox(1, answer_seconds=0.5)
    async with asyncio.timeout(60):
        while True:
            try:
                await opened(sandbox, BLANK, "one")
                break
            except ChildDiedError:
                # To begin may take longer than that here.
                continue
        child = the_child()
        os.kill(child, signal.SIGSTOP)
        await asleep(child)

        with pytest.raises(ChildDiedError, match="did not answer within"):
            await sandbox.ask(text(BLANK), document="one")

        await gone(child)
    await sandbox.close()
