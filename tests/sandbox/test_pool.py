"""The pool of children: what is warm stays warm, and whoever dies takes only its request along."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from officeplane.domain.document import Format
from officeplane.domain.revision import Recipe
from officeplane.formats.blank import blank
from officeplane.frames import Bounds, head_of, read
from officeplane.sandbox import births, children, nursery_client, pool
from officeplane.sandbox.answers import Admitted, Refused, accepted
from officeplane.sandbox.children import COPIED_BYTES
from officeplane.sandbox.conversation import Heard, Sent
from officeplane.sandbox.errors import ChildDiedError, SandboxError
from officeplane.sandbox.operations import Check
from officeplane.sandbox.pool import Sandbox
from tests.sandbox.asking import AFile, an_order, apply, done, edited, missing, said, text
from tests.sandbox.processes import asleep, born, children_of, gone, nurseries, the_child
from tests.support import eventually

BLANK = AFile(blank(Format.DOCX, "A title"))


async def opened(sandbox: Sandbox, file: AFile = BLANK, document: str = "doc") -> None:
    """Have a child open a document."""
    said(await sandbox.ask(text(file), document=document, file=file.to_open()))


async def checked(sandbox: Sandbox, heard: Heard[Admitted] | None = None) -> Format:
    """Have a file on its way in looked at."""
    return accepted(await sandbox.ask(Check(), file=BLANK.to_look_at(), heard=heard)).format


async def asking(sandbox: Sandbox, document: str | None = "doc") -> "asyncio.Task[object]":
    """Stop the one child, ask it, and return the request that it cannot answer."""
    child = the_child()
    os.kill(child, signal.SIGSTOP)
    await asleep(child)
    request = asyncio.ensure_future(sandbox.ask(text(BLANK), document=document))
    # One turn of the loop: it takes the child, and waits for the answer.
    await asyncio.sleep(0)
    return request


async def test_nobody_is_born_before_somebody_asks(sandbox: Sandbox) -> None:
    assert nurseries() == []

    await opened(sandbox)

    assert len(born()) == 1


async def test_what_is_not_open_is_missing_until_it_is_sent(sandbox: Sandbox) -> None:
    assert missing(await sandbox.ask(text(BLANK), document="doc")) == BLANK.state

    await opened(sandbox)

    said(await sandbox.ask(text(BLANK), document="doc"))


async def test_an_edited_document_is_open_under_its_new_hash_and_no_other(sandbox: Sandbox) -> None:
    await opened(sandbox)

    answer = await sandbox.ask(apply(BLANK, an_order("add_chapter", title="One")), document="doc")

    again = apply(answer, an_order("add_chapter", title="Two"))
    second = await sandbox.ask(again, document="doc")
    assert "One" in said(await sandbox.ask(text(second), document="doc"))
    assert missing(await sandbox.ask(text(BLANK), document="doc")) == BLANK.state


async def test_a_confined_child_looks_for_patterns(sandbox: Sandbox) -> None:
    await opened(sandbox)
    long = await sandbox.ask(apply(BLANK, an_order("add_chapter", title="a" * 9_999 + "!")), document="doc")
    hostile = an_order("replace_text", find="(a+)+$", replace="b", regex=True, expectedCount=0)
    kind = an_order("replace_text", "2", find=r"^(a+)(\W)$", replace=r"\2 ä", regex=True)

    answer = await sandbox.ask(apply(long, hostile, kind), document="doc")

    assert said(await sandbox.ask(text(answer), document="doc")).strip().endswith("! ä")


async def test_a_request_goes_to_the_child_that_had_the_document_last(sandbox: Sandbox) -> None:
    other = AFile(blank(Format.XLSX, None), Format.XLSX)
    await asyncio.gather(opened(sandbox, BLANK, "one"), opened(sandbox, other, "two"))
    assert len(born()) == 2

    for document, file in (("one", BLANK), ("two", other)) * 3:
        said(await sandbox.ask(text(file), document=document))


async def test_there_are_no_more_children_than_allowed(sandbox: Sandbox) -> None:
    counts: list[int] = []

    async def heard(_answer: Admitted | Refused) -> None:
        counts.append(len(born()))

    formats = await asyncio.gather(*(checked(sandbox, heard) for _ in range(12)))

    assert set(formats) == {Format.DOCX}
    assert len(counts) == 12
    assert max(counts) <= 2


async def test_a_child_sees_one_document_as_long_as_it_lives(sandbox: Sandbox) -> None:
    await opened(sandbox, BLANK, "one")
    child = the_child()

    await opened(sandbox, BLANK, "two")

    assert child in born()
    assert len(born()) == 2


async def test_a_child_that_has_seen_a_file_on_its_way_in_sees_nothing_else(sandbox: Sandbox) -> None:
    await checked(sandbox)

    assert born() == []


async def test_children_that_were_not_used_for_long_make_place(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "KEPT_BYTES_MAX", 3 * COPIED_BYTES - 1)
    for document in ("one", "two", "one", "three"):
        await opened(sandbox, BLANK, document)

    assert missing(await sandbox.ask(text(BLANK), document="two")) == BLANK.state


async def test_a_child_that_needs_much_memory_leaves_less_for_others(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "KEPT_BYTES_MAX", 4 * COPIED_BYTES)
    large = AFile(blank(Format.XLSX, None), Format.XLSX)
    cells = {f"A{row}": f"text {row}" for row in range(1, 20_001)}
    await opened(sandbox, BLANK, "small")
    await opened(sandbox, large, "large")

    await sandbox.ask(apply(large, an_order("set_cells", sheet="Sheet1", cells=cells)), document="large")

    assert missing(await sandbox.ask(text(BLANK), document="small")) == BLANK.state


async def test_a_child_that_is_killed_takes_its_request_along_and_the_pool_goes_on(sandbox: Sandbox) -> None:
    await opened(sandbox)
    request = await asking(sandbox)

    os.kill(the_child(), signal.SIGKILL)

    with pytest.raises(ChildDiedError, match="ended by SIGKILL") as raised:
        await request
    assert raised.value.killed_by is signal.SIGKILL
    assert missing(await sandbox.ask(text(BLANK), document="doc")) == BLANK.state
    await opened(sandbox)


async def test_a_child_that_died_while_it_was_idle_costs_nobody_a_request(sandbox: Sandbox) -> None:
    await opened(sandbox)
    child = the_child()
    os.kill(child, signal.SIGKILL)
    await gone(child)

    await opened(sandbox)

    assert the_child() != child


async def test_a_request_that_is_cancelled_ends_its_child(sandbox: Sandbox) -> None:
    await opened(sandbox)
    child = the_child()
    request = await asking(sandbox)

    request.cancel()

    with pytest.raises(asyncio.CancelledError):
        await request
    assert child not in born()
    await opened(sandbox)


async def test_a_sender_that_fails_ends_its_child_and_says_why(sandbox: Sandbox) -> None:
    await opened(sandbox)
    child = the_child()

    async def blocks() -> AsyncGenerator[bytes, None]:
        yield b"one"
        raise KeyError("gone")

    with pytest.raises(KeyError):
        await sandbox.ask(Check(), file=Sent(7, blocks()))

    assert born() == [child]
    await opened(sandbox)


async def test_whoever_is_cancelled_while_a_child_is_born_leaves_nothing_behind(sandbox: Sandbox) -> None:
    await opened(sandbox)
    held = await asking(sandbox)
    for _ in range(5):
        birth = asyncio.ensure_future(checked(sandbox))
        await asyncio.sleep(0)
        birth.cancel()
        await asyncio.wait({birth})

    assert await checked(sandbox) is Format.DOCX

    assert len(born()) == 1
    held.cancel()
    await asyncio.wait({held})
    await opened(sandbox)


async def test_whoever_is_cancelled_while_the_nursery_begins_leaves_it_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[socket.socket] = []

    def socketpair() -> tuple[socket.socket, socket.socket]:
        pair = a_pair()
        made.extend(pair)
        return pair

    a_pair = socket.socketpair
    monkeypatch.setattr(socket, "socketpair", socketpair)
    sandbox = Sandbox(2)
    first = asyncio.ensure_future(checked(sandbox))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})

    await opened(sandbox)

    assert len(nurseries()) == 1
    await sandbox.close()
    assert made
    await eventually(lambda: all(one.fileno() == -1 for one in made), what="nothing left open")


async def test_a_child_has_no_environment_and_no_descriptor_but_its_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nursery_client, "NURSERY", "tests.sandbox.showing")
    nursery = births.Births(frozenset())
    child = await nursery.born()

    child.writer.write(head_of({}))
    shown = (await read(child.reader, Bounds(4_096, 0), lambda frame: frame)).body

    child.close()
    await nursery.close()
    assert shown["environ"] == {}
    assert shown["descriptors"] == ["character", "character", "character", "own sizes"]


async def test_a_child_is_bounded_in_memory_files_and_descriptors(sandbox: Sandbox) -> None:
    await opened(sandbox)
    limits = Path(f"/proc/{the_child()}/limits").read_text()

    bounds, hard = ({line[:25].strip(): line[25:].split()[n] for line in limits.splitlines()[1:]} for n in (0, 1))

    assert int(bounds["Max address space"]) == 640 * 1024 * 1024
    assert bounds["Max file size"] == "0"
    assert bounds["Max core file size"] == "0"
    assert int(bounds["Max open files"]) == 16
    assert bounds["Max processes"] == "0"
    assert bounds["Max locked memory"] == "0"
    assert int(bounds["Max cpu time"]) <= 60
    assert int(hard["Max cpu time"]) == 600


async def test_children_go_with_their_nursery_and_the_next_request_has_a_new_one(sandbox: Sandbox) -> None:
    other = AFile(blank(Format.XLSX, None), Format.XLSX)
    await asyncio.gather(opened(sandbox, BLANK, "one"), opened(sandbox, other, "two"))
    children = born()
    (nursery,) = nurseries()

    os.kill(nursery, signal.SIGKILL)
    await gone(nursery, *children)

    await asyncio.gather(opened(sandbox, BLANK, "one"), opened(sandbox, other, "two"))
    (reborn,) = nurseries()
    assert reborn != nursery
    assert set(children_of(reborn)).isdisjoint(children)


async def test_a_nursery_that_dies_with_a_request_under_way_is_a_child_that_died(sandbox: Sandbox) -> None:
    await opened(sandbox)
    request = await asking(sandbox)

    os.kill(nurseries()[0], signal.SIGKILL)

    with pytest.raises(ChildDiedError):
        await request
    await opened(sandbox)


async def test_all_go_when_the_pool_is_closed() -> None:
    sandbox = Sandbox(2)
    await opened(sandbox)
    processes = [*nurseries(), *born()]

    await sandbox.close()

    await gone(*processes)


async def test_a_child_that_has_answered_often_enough_makes_place_for_a_fresh_one(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "REQUESTS_PER_CHILD", 2)
    await opened(sandbox)
    first = the_child()
    await opened(sandbox)
    assert born() == []

    await opened(sandbox)

    assert the_child() != first


async def test_what_nobody_thought_of_is_an_error_and_the_child_is_not_used_again(sandbox: Sandbox) -> None:
    await opened(sandbox)
    child = the_child()

    with pytest.raises(SandboxError, match="no_such_edit"):
        await sandbox.ask(apply(BLANK, an_order("no_such_edit")), document="doc")

    assert child not in born()
    await opened(sandbox)


async def test_large_answers_and_large_files_pass(sandbox: Sandbox) -> None:
    await opened(sandbox)
    order = an_order("write_page", content="word " * 190_000)

    answer = await sandbox.ask(apply(BLANK, order), document="doc")

    file = AFile(edited(answer, BLANK))
    assert len(file.data) == Recipe.decode(done(answer).recipe).size
    assert len(said(await sandbox.ask(text(answer), document="doc"))) > 900_000
