"""Ends: a child that was taken over and goes on for ever, or falls, is ended in time, and its owner is told how."""

import os
import signal
from contextlib import suppress

import pytest

from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from officeplane.sandbox import nursery_client
from officeplane.sandbox.errors import ChildDiedError
from officeplane.sandbox.pool import Sandbox
from tests.sandbox.asking import AFile, an_order, apply, done, said, text
from tests.sandbox.processes import born, gone, is_alive, the_child
from tests.support import eventually

BLANK = AFile(blank(Format.DOCX, None))


@pytest.fixture(autouse=True)
def children_that_obey(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all children be born where their code obeys the documents' authors."""
    monkeypatch.setattr(nursery_client, "NURSERY", "tests.sandbox.taken_over")


async def begun(sandbox: Sandbox) -> None:
    """Return once a child can be asked; to begin counts as an answer, and may take longer than that on this machine."""
    while True:
        with suppress(ChildDiedError):
            said(await sandbox.ask(text(BLANK), document="doc", file=BLANK.to_open()))
            return


async def ended(sandbox: Sandbox, order: str) -> ChildDiedError:
    """Return what is told of a child whose author orders this."""
    said(await sandbox.ask(text(BLANK), document="doc", file=BLANK.to_open()))
    child = the_child()

    with pytest.raises(ChildDiedError) as raised:
        await sandbox.ask(apply(BLANK, an_order("add_chapter", title=order)), document="doc")

    await gone(child)
    return raised.value


async def test_whoever_computes_for_ever_is_ended_when_its_time_is_over(sandbox: Sandbox) -> None:
    told = await ended(sandbox, "compute for ever")

    assert told.killed_by is signal.SIGXCPU
    assert "computed for longer than it may" in str(told)


async def test_whoever_does_not_heed_the_end_of_its_time_is_killed(sandbox: Sandbox) -> None:
    assert (await ended(sandbox, "compute past its end")).killed_by is signal.SIGKILL


async def test_whoever_reads_where_there_is_no_memory_falls(sandbox: Sandbox) -> None:
    assert (await ended(sandbox, "fall")).killed_by is signal.SIGSEGV


async def test_whoever_never_answers_is_ended_by_its_owner() -> None:
    sandbox = Sandbox(1, answer_seconds=5.0)
    await begun(sandbox)

    told = await ended(sandbox, "sleep")

    assert "did not answer within 5 s" in str(told)
    await sandbox.close()


async def test_whoever_grows_although_nobody_asks_for_anything_is_ended(sandbox: Sandbox) -> None:
    said(await sandbox.ask(text(BLANK), document="doc", file=BLANK.to_open()))
    child = the_child()
    done(await sandbox.ask(apply(BLANK, an_order("add_chapter", title="grow afterwards")), document="doc"))
    os.kill(child, signal.SIGUSR1)

    async def is_gone_while_others_are_asked() -> bool:
        said(await sandbox.ask(text(BLANK), document="other", file=BLANK.to_open()))
        return not is_alive(child)

    await eventually(is_gone_while_others_are_asked, what="the end of who has grown")
    assert len(born()) == 1
