"""Forgery: a child that was taken over by a file's author changes no other document, and makes nobody wait."""

import pytest

from officeplane.domain.document import Format
from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import Kind, Principal, Scope
from officeplane.domain.request import TaskRequest
from officeplane.domain.space import Space
from officeplane.sandbox import nursery_client
from tests import contents
from tests.sandbox.taken_over import FORGED
from tests.services.editing import a_document, an_edit, carried_out, content, edited, head, made, ran
from tests.workbench import Workbench

ACME = Principal("acme", Kind.KEY, frozenset(Scope), space=Space("acme"))


@pytest.fixture(autouse=True)
def children_that_obey(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all children be born where their code obeys the documents' authors."""
    monkeypatch.setattr(nursery_client, "NURSERY", "tests.sandbox.taken_over")


async def said(bench: Workbench, document_id: str) -> str:
    return await contents.text(bench.runtime, document_id)


async def attacked(bench: Workbench, document_id: str, order: str) -> None:
    await edited(bench, document_id=document_id, payload={"title": order})


async def test_the_next_honest_edit_of_a_victim_settles_what_its_author_wrote(bench: Workbench) -> None:
    await a_document(bench, "victim")
    await edited(bench, "write_page", document_id="victim", payload={"content": "It costs 100 EUR."})
    for number in range(4):
        await a_document(bench, f"attacker{number}")
        await attacked(bench, f"attacker{number}", "forge all")

    await edited(bench, document_id="victim", payload={"title": "An honest chapter"})

    whole = await said(bench, "victim")
    assert "An honest chapter" in whole
    assert "100 EUR" in whole
    assert FORGED not in whole


async def test_a_victim_that_is_opened_after_the_attack_stays_what_it_was(bench: Workbench) -> None:
    await a_document(bench, "attacker")
    await attacked(bench, "attacker", "forge all")

    await a_document(bench, "victim")
    await edited(bench, "write_page", document_id="victim", payload={"content": "It costs 100 EUR."})
    await edited(bench, document_id="victim", payload={"title": "An honest chapter"})

    assert "100 EUR" in await said(bench, "victim")


async def test_readers_of_a_victim_see_what_is_stored_of_it(bench: Workbench) -> None:
    await a_document(bench, "victim")
    await edited(bench, "write_page", document_id="victim", payload={"content": "It costs 100 EUR."})
    await a_document(bench, "attacker")
    await attacked(bench, "attacker", "forge all")

    assert "100 EUR" in await said(bench, "victim")
    assert b"999" not in await content(bench, document_id="victim")


async def test_a_document_of_the_same_name_in_another_space_stays_what_it_was(bench: Workbench) -> None:
    await a_document(bench, "victim")
    await edited(bench, "write_page", document_id="victim", payload={"content": "It costs 100 EUR."})
    await bench.runtime.documents.create(ACME, "victim", Format.DOCX, None, None)
    for title in ("forge all", "forge all"):
        attack = {"task_type": "add_chapter", "document_id": "victim", "payload": {"title": title}}
        stored = await bench.runtime.submission.submit(ACME, TaskRequest.from_python(attack))
        claimed = await bench.claim_next(stored.task)
        outcome = await carried_out(bench, claimed)
        await bench.settle(claimed, made(outcome))

    await edited(bench, document_id="victim", payload={"title": "An honest chapter"})

    whole = await said(bench, "victim")
    assert "100 EUR" in whole
    assert "forge" not in whole


@pytest.mark.parametrize(
    "order",
    [
        "name what is not there",
        "name a piece as smaller",
        "keep a byte",
        "say that more comes than there is",
        "say that a long message comes",
        "say that countless pieces come",
        "say no object",
        "say no json",
        "say what nests",
        "say nothing of going on",
        "say what nobody knows",
        "say what answers something else",
        "say that others are missing",
        "say no number",
        "say two results",
        "say a result alone",
    ],
)
async def test_a_lie_fails_its_attempt_and_its_child_is_not_asked_again(bench: Workbench, order: str) -> None:
    await a_document(bench)
    before = await head(bench)

    details = await ran(bench, await an_edit(bench, payload={"title": order}, max_retries=0))

    assert details.task.state in {TaskState.FAILED, TaskState.RETRYING}
    assert {failure.kind for failure in details.failures} <= {FailureKind.CRASH, FailureKind.INVALID_EDIT}
    assert await head(bench) == before
    await a_document(bench, "other")
    await edited(bench, document_id="other", payload={"title": "One"})
