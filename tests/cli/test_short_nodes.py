"""Nodes by the ends of their ids: what lists of a document have shown is accepted by commands about that document."""

import re
from pathlib import Path

import pytest
from pydantic import JsonValue

from officeplane.cli.documents.short_nodes import ShownNodes
from officeplane.cli.exits import UsageError
from tests.cli.conftest import Documents, Plane
from tests.cli.test_short_ids import in_terminal
from tests.formats.reading.contracts import contract

URL = "http://127.0.0.1:8001"
NODES = ["chapter-f12f34f886e9", "p-1a2b3c4d", "p-9a9b3c4d", "page-0123456789ab", "sheet-1", "slide-256.3"]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ShownNodes:
    """A document of which a list has shown some nodes on a terminal."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("FORCE_COLOR", "1")
    nodes = ShownNodes(URL, "plan")
    nodes.show(lambda name: [name(node) for node in NODES])
    return nodes


@pytest.mark.parametrize(("given", "node"), [("86e9", NODES[0]), ("0123456789AB", NODES[3]), ("2b3c4d", NODES[1])])
def test_an_end_is_as_good_as_the_id_that_was_shown(shown: ShownNodes, given: str, node: str) -> None:
    assert shown.whole(given) == node
    assert ShownNodes(f"{URL}/", "plan").whole(given) == node


@pytest.mark.parametrize("given", [NODES[1], "sheet-1", "256.3", "Plan!A1:C9", "B2", "6e9", "0000", "Risks", ""])
def test_what_is_no_end_stays_as_it_is(shown: ShownNodes, given: str) -> None:
    assert shown.whole(given) == given


def test_an_end_of_two_nodes_is_refused_with_both(shown: ShownNodes) -> None:
    with pytest.raises(UsageError) as refused:
        shown.whole("3c4d")

    assert {line.strip() for line in refused.value.lines[1:]} == {"p-1a2b3c4d", "p-9a9b3c4d"}


def test_an_end_means_nothing_in_another_document(shown: ShownNodes) -> None:
    assert shown.whole("86e9") != "86e9"
    assert ShownNodes(URL, "other").whole("86e9") == "86e9"
    assert ShownNodes("http://127.0.0.1:8002", "plan").whole("86e9") == "86e9"


def test_fields_that_name_nodes_take_ends_and_texts_do_not(shown: ShownNodes) -> None:
    typed: dict[str, JsonValue] = {
        "nodeId": "86e9",
        "text": "86e9",
        "ids": ["86e9", "p-1a2b3c4d"],
        "add": {"nodeId": "86e9", "at": 3},
    }

    assert shown.whole_in(typed) == {
        "nodeId": NODES[0], "text": "86e9", "ids": [NODES[0], "p-1a2b3c4d"], "add": {"nodeId": NODES[0], "at": 3},
    }  # fmt: skip


def test_what_was_piped_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    nodes = ShownNodes(URL, "plan")

    nodes.show(lambda name: [f"{name(NODES[0])} {'x' * 200}"])

    assert capsys.readouterr().out == f"{NODES[0]} {'x' * 200}\n"
    assert nodes.whole("86e9") == "86e9"


async def test_lists_in_a_narrow_terminal_show_ends_that_commands_take(
    documents: Documents, plane: Plane, document_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "contract.docx"
    file.write_bytes(contract())
    assert (await documents("put", str(file), document_id)).code == 0
    words = ("find", document_id, "The Supplier shall")
    piped = await documents(*words)
    whole = piped.out.split()[0]

    listed = await in_terminal("documents", *words, env={**plane.env, "XDG_STATE_HOME": str(documents.state)})

    assert whole not in listed
    end = next(word for word in re.findall(r"[0-9a-f]{4,}", listed) if whole.endswith(word))
    node = await documents("show", document_id, end)
    assert node.out == (await documents("show", document_id, whole)).out
    below = await documents("text", document_id, "--under", end)
    assert below.out == (await documents("text", document_id, "--under", whole)).out
    edited = await documents("edit", document_id, "edit_node", f"nodeId={end}", "text=Interest")
    assert (edited.code, f"id: {whole}" in edited.out) == (0, True)
    assert (await documents("show", document_id, whole)).out == "Interest\n"
