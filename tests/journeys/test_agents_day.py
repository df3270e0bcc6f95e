"""A day of an agent: a contract of twelve pages is read in parts and revised, beside people who do the same.

The model is scripted, and everything that it is told is counted: the whole
contract has some 5,000 tokens, and all that the day takes to read is less than
6,000. Four bytes are a token.
"""

import base64
import io
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

import docx
import httpx
import pytest
from docx.shared import Inches

from tests.fixtures.pictures import png
from tests.formats.reading.contracts import contract
from tests.journeys.conftest import Working
from tests.journeys.processes import NOT_KEPT, Server

OUTLINE_TOKENS: Final = 500
DAY_TOKENS: Final = 6_000
_TOKEN_BYTES: Final = 4
_CLAUSES: Final = {
    "Invoices are due": "Invoices are due fourteen days after they were received.",
    "Interest on late payment": "Interest on late payment is two per cent above the base rate.",
    "Liability is capped": "Liability is capped at the fees of the last twelve months.",
}
_MORE: Final = ("Notices go by e-mail.", "This Agreement is governed by the law of Ireland.", "Renewal is by letter.")


@dataclass(slots=True)
class Agent:
    """A model that reads what it asks for and nothing else."""

    http: httpx.AsyncClient
    document: str
    name: str = "drafter"
    tokens: int = 0
    revision: int = 0
    read: list[str] = field(default_factory=list[str])

    async def look(self, what: str) -> dict[str, Any]:
        """Return what the API says of a part, which costs what it is long."""
        answer = await self.http.get(f"/api/documents/{self.document}/{what}")
        assert answer.status_code == 200, answer.text
        self._pay(answer, what)
        told: dict[str, Any] = answer.json()
        self.revision = told["revision"]
        return told

    async def find(self, words: str) -> str:
        """Return the id of the one node in which these words stand."""
        (item,) = (await self.look(f"find?text={words}&limit=3"))["items"]
        return str(item["id"])

    async def do(self, body: dict[str, Any]) -> dict[str, Any]:
        """Have something done, and read how it ended."""
        asked = {"documentId": self.document, "onBehalfOf": self.name, "baseRevision": self.revision, **body}
        answer = await self.http.post("/api/tasks?wait=30", json=asked)
        assert answer.status_code == 201, answer.text
        task: dict[str, Any] = answer.json()
        # What a model is shown of a task is how it ended.
        self._pay(httpx.Response(200, json={name: task[name] for name in ("state", "result", "error")}), "task")
        if task["state"] == "COMPLETED":
            self.revision = task["result"]["revision"]
        return task

    def _pay(self, answer: httpx.Response, what: str) -> None:
        cost = len(answer.content) // _TOKEN_BYTES
        self.tokens += cost
        self.read.append(f"{cost:5} {what}")


@pytest.fixture
async def http(plane: Working) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=plane.api.url, timeout=40, limits=NOT_KEPT) as client:
        yield client


async def test_a_contract_is_revised_for_fewer_tokens_than_reading_it_takes(
    plane: Working, http: httpx.AsyncClient
) -> None:
    assert (await http.put("/api/documents/agents-day", content=_contract())).status_code == 201
    agent = Agent(http, "agents-day")

    outline = await agent.look("outline")
    assert agent.tokens <= OUTLINE_TOKENS, agent.read
    clauses = [await agent.find(words) for words in _CLAUSES]
    shown = [(await agent.look(f"nodes/{clause}"))["node"]["content"] for clause in clauses]
    assert shown == list(_CLAUSES.values())
    others = [await agent.find(words[:20]) for words in _MORE]

    texts = zip((*clauses, *others), (*_CLAUSES.values(), *_MORE), strict=True)
    edits = [_tracked(node, f"{text} Unless agreed otherwise.") for node, text in texts]
    suggested = await agent.do({"atomic": True, "children": edits})
    assert suggested["state"] == "COMPLETED", suggested["error"]

    await _tables_and_pictures(agent, outline)
    await _conflict(agent, plane.api, clauses[0])
    await _review(http, agent)

    assert agent.tokens < DAY_TOKENS, agent.read


async def _tables_and_pictures(agent: Agent, outline: dict[str, Any]) -> None:
    """A table is put right, and the picture replaced."""
    (table,) = (await agent.look("outline?kinds=table"))["nodes"]
    cells = {"A1": "Service", "B1": "Unit", "C1": "Rate", "C2": "95.00"}
    fixed = await agent.do({"taskType": "edit_table", "payload": {"tableId": table["id"], "cells": cells}})
    assert fixed["state"] == "COMPLETED", fixed["error"]
    assert "| Service | Unit | Rate |" in (await agent.look(f"nodes/{fixed['result']['id']}"))["node"]["content"]
    (picture,) = (await agent.look("images"))["items"]
    logo = base64.b64encode(png(60, 30)).decode()
    replaced = await agent.do(
        {"taskType": "replace_image", "payload": {"nodeId": picture["id"], "base64": logo, "alt": "The new logo"}}
    )
    assert replaced["state"] == "COMPLETED", replaced["error"]
    assert outline["revision"] == 1


async def _conflict(agent: Agent, api: Server, clause: str) -> None:
    """Somebody else is quicker at one node: the agent is told, reads it again, and goes on with the others."""
    known = agent.revision
    by_ann = {"nodeId": clause, "text": "Invoices are due on receipt."}
    await api.final(await api.submit("edit_node", documentId=agent.document, payload=by_ann, onBehalfOf="ann"))

    base = {"baseRevision": known, "onConflict": "rebase"}
    late = await agent.do(_tracked(clause, "Invoices are due in a week.") | base)
    assert (late["state"], late["error"]["kind"]) == ("FAILED", "edit_conflict")
    assert late["error"]["changed"] == [clause]
    assert [made["author"] for made in late["error"]["revisions"]] == ["ann"]
    elsewhere = await agent.find("Renewal is by letter")
    rebased = await agent.do(
        {
            "taskType": "insert_content",
            "payload": {"content": "Letters are posted.", "after": elsewhere, "changeMode": "tracked"},
            **base,
        }
    )
    assert rebased["state"] == "COMPLETED", rebased["error"]
    assert "on receipt" in (await agent.look(f"nodes/{clause}"))["node"]["content"]
    again = await agent.do(_tracked(clause, "Invoices are due a week after receipt."))
    assert again["state"] == "COMPLETED", again["error"]


async def _review(http: httpx.AsyncClient, agent: Agent) -> None:
    """A lawyer reads what the agent suggests, accepts the half of it and turns down the rest."""
    lawyer = Agent(http, agent.document, "lawyer")
    changes = (await lawyer.look("changes"))["items"]
    assert {change["author"] for change in changes} == {"drafter"}
    half = [change["id"] for change in changes[: len(changes) // 2]]
    accepted = await lawyer.do({"taskType": "review_changes", "payload": {"accept": True, "ids": half}})
    assert accepted["state"] == "COMPLETED", accepted["error"]
    rejected = await lawyer.do({"taskType": "review_changes", "payload": {"reject": True}})
    assert rejected["state"] == "COMPLETED", rejected["error"]
    assert (await lawyer.look("changes"))["items"] == []
    data = (await http.get(f"/api/documents/{agent.document}/content")).content
    said = [paragraph.text for paragraph in docx.Document(io.BytesIO(data)).paragraphs]
    assert "Interest on late payment is two per cent above the base rate. Unless agreed otherwise." in said
    assert "Renewal is by letter." in said
    assert "Letters are posted." not in said


def _tracked(node: str, text: str) -> dict[str, Any]:
    return {"taskType": "edit_node", "payload": {"nodeId": node, "text": text, "changeMode": "tracked"}}


def _contract() -> bytes:
    """Return the contract with clauses that can be told from others, and a logo."""
    document = docx.Document(io.BytesIO(contract()))
    plain = [
        paragraph
        for paragraph in document.paragraphs
        if paragraph.style is not None and paragraph.style.name == "Normal"
    ]
    for paragraph, text in zip(plain[10::6], (*_CLAUSES.values(), *_MORE), strict=False):
        paragraph.text = text
    plain[0].add_run().add_picture(io.BytesIO(png(120, 60)), width=Inches(1))
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def test_the_whole_contract_has_about_five_thousand_tokens() -> None:
    words = "\n".join(paragraph.text for paragraph in docx.Document(io.BytesIO(_contract())).paragraphs)

    assert len(words) / _TOKEN_BYTES > 4_500
