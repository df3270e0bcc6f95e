"""Reading in parts over the API: parameters, cursors, validators and refusals."""

import pytest
from uuid_utils import uuid4

from officeplane.domain.document import Format
from tests.api.client import Api, Json, code_of, json_of
from tests.fixtures.documents import excel, powerpoint, word
from tests.formats.reading.contracts import contract

FILES = {Format.DOCX: contract, Format.PPTX: powerpoint.rich, Format.XLSX: excel.hard}


@pytest.fixture(params=Format)
async def path(api: Api, request: pytest.FixtureRequest) -> str:
    """Where a document of each format is."""
    path = f"/api/documents/doc-{str(uuid4())[:8]}"
    assert (await api.client.put(path, content=FILES[request.param]())).status_code == 201
    return path


@pytest.fixture
async def a_contract(api: Api) -> str:
    path = f"/api/documents/doc-{str(uuid4())[:8]}"
    assert (await api.client.put(path, content=contract())).status_code == 201
    return path


async def read(api: Api, path: str, **query: str) -> Json:
    response = await api.get(path, **query)
    assert response.status_code == 200, response.text
    assert response.headers["ETag"] == f'"{response.json()["revision"]}"'
    return json_of(response)


async def revise(api: Api, path: str) -> None:
    """Let a worker make the next revision of a document."""
    payload = {"find": "undisputed", "replace": "due"}
    task = await api.submit(taskType="replace_text", documentId=path.rpartition("/")[2], payload=payload)
    claimed = await api.start(task["id"])
    await api.end(claimed, await api.worker.editing.run(claimed, claimed.payload_json))
    assert json_of(await api.get(path))["revision"] == 2


def ids(nodes: list[Json]) -> list[str]:
    return [one for node in nodes for one in (node["id"], *ids(node.get("children", [])))]


async def test_an_outline_is_read_from_cursor_to_cursor_within_its_bound(api: Api, path: str) -> None:
    whole = await read(api, f"{path}/outline")

    read_ids: list[str] = []
    query = {"maxTokens": "100"}
    while True:
        response = await api.get(f"{path}/outline", **query)
        part = json_of(response)
        read_ids += ids(part["nodes"])
        assert len(response.content) <= 400 or len(ids(part["nodes"])) == 1
        assert part["truncated"] == (part["next"] is not None)
        if part["next"] is None:
            break
        query["cursor"] = part["next"]

    assert not whole["truncated"]
    assert read_ids == ids(whole["nodes"])


async def test_every_node_that_an_outline_lists_can_be_read(api: Api, path: str) -> None:
    for node_id in ids((await read(api, f"{path}/outline"))["nodes"]):
        answer = await api.client.get(f"{path}/nodes/{node_id}", params={"with": "format"})

        assert (answer.status_code, answer.json()["node"]["id"]) == (200, node_id)


async def test_what_is_read_already_is_not_sent_again(api: Api, path: str) -> None:
    node_id = (await read(api, f"{path}/outline"))["nodes"][0]["id"]

    reads = (
        "outline?depth=1",
        "find?text=e",
        "text",
        "comments",
        "images",
        f"nodes/{node_id}",
        f"text?under={node_id}",
    )
    for what in reads:
        known = await api.client.get(f"{path}/{what}", headers={"If-None-Match": '"1"'})
        assert (known.status_code, known.content) == (304, b""), what


async def test_a_cursor_stays_in_its_revision_whoever_edits_meanwhile(api: Api, a_contract: str) -> None:
    first = await read(api, f"{a_contract}/find", text="undisputed", limit="5")
    await revise(api, a_contract)

    second = await read(api, f"{a_contract}/find", text="undisputed", limit="5", cursor=first["next"])

    assert (await read(api, f"{a_contract}/find", text="undisputed"))["items"] == []
    assert (first["revision"], second["revision"]) == (1, 1)
    assert len({(item["id"], item["position"]) for item in (*first["items"], *second["items"])}) == 10
    asked = {"text": "undisputed", "cursor": first["next"], "revision": "2"}
    assert code_of(await api.get(f"{a_contract}/find", **asked)) == (400, "invalid_cursor")


async def test_text_comes_in_parts_of_whole_lines(api: Api, a_contract: str) -> None:
    whole = (await read(api, f"{a_contract}/text"))["text"]

    first = await read(api, f"{a_contract}/text", maxTokens="500")
    second = await read(api, f"{a_contract}/text", maxTokens="500", cursor=first["next"])

    assert whole.startswith(first["text"] + second["text"])
    assert first["text"].endswith("\n")
    assert len(first["text"].encode()) <= 2_000


async def test_only_what_is_asked_for_is_listed(api: Api, a_contract: str) -> None:
    nodes = (await read(api, f"{a_contract}/outline", depth="1"))["nodes"]
    tables = (await read(api, f"{a_contract}/outline", kinds="table, row"))["nodes"]
    texts = (await read(api, f"{a_contract}/outline", texts="true", under=nodes[0]["id"]))["nodes"]

    assert [node["kind"] for node in nodes] == ["chapter"] * 7
    assert nodes[0]["number"] == "1."
    (table,) = tables
    assert [row["kind"] for row in table["children"]] == ["row"] * 5
    assert texts[0]["id"] == nodes[0]["id"]
    assert "The Supplier shall" in texts[0]["children"][0]["text"]


async def test_a_find_tells_the_page_and_a_node_its_neighbours(api: Api, a_contract: str) -> None:
    found = (await read(api, f"{a_contract}/find", text="Late payment"))["items"]
    (exactly,) = (await read(api, f"{a_contract}/find", text="Late Payment", matchCase="true"))["items"]

    assert found == [exactly]
    node = (await read(api, f"{a_contract}/nodes/{exactly['id']}", depth="0"))["node"]
    assert (node["number"], node["text"]) == ("3.2", "Late Payment")
    assert node["parent"]["kind"] == "chapter"
    assert node["previous"]["text"] == "Invoices"
    assert "children" not in node


async def test_a_find_takes_a_pattern(api: Api, a_contract: str) -> None:
    found = (await read(api, f"{a_contract}/find", text=r"^late\s(pay)\w+$", regex="true"))["items"]
    exactly = (await read(api, f"{a_contract}/find", text=r"^late\s(pay)\w+$", regex="true", matchCase="true"))["items"]

    assert [item["text"] for item in found] == ["Late Payment"]
    assert exactly == []


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("a(b", "missing ), at letter 4"), ("a*", "nothing stands"), ("a(?=b)", "looking ahead"), ("x{9999}", "letter 2")],
)
async def test_a_pattern_that_is_wrong_is_refused_with_the_reason_and_its_place(
    api: Api, a_contract: str, pattern: str, told: str
) -> None:
    refused = await api.get(f"{a_contract}/find", text=pattern, regex="true")

    assert code_of(refused) == (422, "invalid_parameter")
    assert refused.json()["errors"][0]["field"] == "text"
    assert told in refused.json()["errors"][0]["message"]


@pytest.mark.parametrize(
    "wrong",
    ["outline?depth=0", "outline?kinds=,", "outline?texts=yes", "find", "find?text=", "find?text=a&limit=501",
     "find?text=a&maxTokens=1", "nodes/x?with=colours", "text?maxTokens=1_000", "find?text=a&regex=a+"],
)  # fmt: skip
async def test_a_parameter_that_makes_no_sense_is_refused(api: Api, a_contract: str, wrong: str) -> None:
    assert code_of(await api.client.get(f"{a_contract}/{wrong}")) == (422, "invalid_parameter")


@pytest.mark.parametrize(
    "what", ["nodes/page-1", "outline?under=page-1", "text?under=page-1", "find?text=a&under=page-1"]
)
async def test_a_node_that_is_not_there_is_not_found(api: Api, a_contract: str, what: str) -> None:
    response = await api.client.get(f"{a_contract}/{what}")

    assert code_of(response) == (404, "node_not_found")
    assert "find?text=" in response.json()["detail"]


@pytest.mark.parametrize("cursor", ["x", "AAAAAAAAAAYyrq4W", ""])
async def test_a_cursor_that_nobody_was_given_is_refused(api: Api, a_contract: str, cursor: str) -> None:
    assert code_of(await api.get(f"{a_contract}/outline", cursor=cursor)) == (400, "invalid_cursor")


@pytest.fixture
async def a_book(api: Api) -> str:
    path = f"/api/documents/doc-{str(uuid4())[:8]}"
    assert (await api.client.put(path, content=excel.hard())).status_code == 201
    return path


@pytest.fixture
async def a_deck(api: Api) -> str:
    path = f"/api/documents/doc-{str(uuid4())[:8]}"
    assert (await api.client.put(path, content=powerpoint.commented())).status_code == 201
    return path


@pytest.fixture
async def a_draft(api: Api) -> str:
    """A text with tracked changes."""
    path = f"/api/documents/doc-{str(uuid4())[:8]}"
    assert (await api.client.put(path, content=word.tracked_changes())).status_code == 201
    return path


async def test_sheets_and_cells_of_a_workbook_are_told(api: Api, a_book: str) -> None:
    sheets = (await read(api, f"{a_book}/sheets"))["items"]
    first = next(sheet for sheet in sheets if "range" in sheet)

    cells = (await read(api, f"{a_book}/cells", sheet=first["text"], show="values,formulas,formats"))["items"]
    by_id = (await read(api, f"{a_book}/cells", sheet=first["id"]))["items"]

    assert [cell["cell"] for cell in cells] == [cell["cell"] for cell in by_id]
    assert any("formula" in cell for cell in cells)
    found = (await read(api, f"{a_book}/find", text="Region"))["items"][0]
    shown = (await api.client.get(f"{a_book}/nodes/{found['id']}")).json()["node"]
    assert (shown["kind"], "Region" in shown["content"]) == ("cell", True)


async def test_how_cells_look_is_told_with_their_formats(api: Api, a_book: str) -> None:
    cells = (await read(api, f"{a_book}/cells", range="Data!B8:H20", show="formats"))["items"]
    column = (await read(api, f"{a_book}/nodes/Data!A:A", **{"with": "format"}))["node"]

    looks = {cell.pop("cell"): cell for cell in cells}
    assert looks["H20"]["look"] == {"bold": True}
    assert looks["B8"] == {"format": "m/d/yyyy"}
    assert (column["kind"], column["format"]["width"]) == ("range", 105)


async def test_cells_are_read_from_cursor_to_cursor(api: Api, a_book: str) -> None:
    whole = (await read(api, f"{a_book}/cells"))["items"]

    first = await read(api, f"{a_book}/cells", maxTokens="60")
    second = await read(api, f"{a_book}/cells", cursor=first["next"])

    assert [*first["items"], *second["items"]] == whole


async def test_a_slide_is_told_with_its_shapes_notes_and_comments(api: Api, a_deck: str) -> None:
    comments = (await read(api, f"{a_deck}/comments"))["items"]
    slide_id = comments[0]["parent"]

    slide = (await read(api, f"{a_deck}/slides/{slide_id}"))["slide"]

    assert comments[0]["id"] in ids(slide["children"])
    assert any("x" in shape.get("format", {}) for shape in slide["children"])
    assert code_of(await api.get(f"{a_deck}/slides/{comments[0]['id']}")) == (404, "node_not_found")


async def test_comments_are_told_with_their_answers_states_and_what_they_are_about(api: Api) -> None:
    for make, first in (
        (word.comments, {"state": "open", "about": "remarked", "author": "Bo"}),
        (excel.threads, {"state": "resolved", "cell": "B2", "author": "Ada"}),
        (powerpoint.commented_anew, {"state": "open", "about": "ody", "shape": "slide-256.3", "author": "Ada"}),
        (powerpoint.commented, {"x": 1.25, "y": 1.25, "author": "Ada"}),
    ):
        path = f"/api/documents/doc-{str(uuid4())[:8]}"
        assert (await api.client.put(path, content=make())).status_code == 201

        comments = (await read(api, f"{path}/comments"))["items"]

        assert first.items() <= comments[0].items()
        if make in {excel.threads, powerpoint.commented_anew}:
            assert comments[1]["inReplyTo"] == comments[0]["id"]


async def test_changes_are_told_with_who_made_them(api: Api, a_draft: str) -> None:
    changes = (await read(api, f"{a_draft}/changes"))["items"]

    assert {change["change"] for change in changes} >= {"insertion", "deletion"}
    assert all(change["author"] and change["parent"] for change in changes)
    assert (await read(api, f"{a_draft}/images"))["items"] == []


async def test_what_only_workbooks_have_is_refused_of_others(api: Api, a_draft: str) -> None:
    for what in ("cells", "sheets"):
        response = await api.get(f"{a_draft}/{what}")
        assert (response.status_code, response.json()["reason"]) == (415, "other_format")


async def test_a_cell_that_is_nowhere_is_not_found(api: Api, a_book: str) -> None:
    assert code_of(await api.get(f"{a_book}/cells", sheet="Nowhere")) == (404, "node_not_found")
    assert code_of(await api.get(f"{a_book}/cells", range="A0")) == (404, "node_not_found")
    assert code_of(await api.get(f"{a_book}/cells", show="colours")) == (422, "invalid_parameter")


async def test_a_difference_is_told_as_briefly_as_is_wanted(api: Api, a_contract: str) -> None:
    await revise(api, a_contract)
    both = {"from": "1", "to": "2"}

    whole = await api.get(f"{a_contract}/diff", **both)
    summary = await api.get(f"{a_contract}/diff", **both, format="summary")
    nodes = await read(api, f"{a_contract}/diff", **both, format="nodes", maxTokens="1000")
    rest = await read(api, f"{a_contract}/diff", **both, format="nodes", cursor=nodes["next"])
    lines = await read(api, f"{a_contract}/diff", **both, format="unified", context="0")

    assert {*json_of(whole)} == {"revision", "text", "nodes"}
    assert len(summary.content) <= 300 * 4
    assert json_of(summary)["changed"] == len(nodes["items"]) + len(rest["items"])
    assert {item["change"] for item in nodes["items"]} == {"changed"}
    assert {line[0] for line in lines["text"]} == {"@", "-", "+"}
    asked = {**both, "format": "nodes"}
    known = await api.client.get(f"{a_contract}/diff", params=asked, headers={"If-None-Match": '"2"'})
    assert known.status_code == 304


async def test_a_cursor_of_another_revision_goes_on_in_no_comparison(api: Api, a_contract: str) -> None:
    await revise(api, a_contract)
    part = await read(api, f"{a_contract}/outline", revision="1", maxTokens="60")

    refused = await api.get(f"{a_contract}/diff", **{"from": "1", "to": "2", "format": "nodes", "cursor": part["next"]})

    assert code_of(refused) == (400, "invalid_cursor")
