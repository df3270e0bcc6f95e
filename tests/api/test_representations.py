"""`GET .../content?as=`: a document as something else than its file, over the API."""

import csv
import io
import json
from pathlib import Path

import pytest
from uuid_utils import uuid4

from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from officeplane.sandbox import converter
from tests.api.client import Api, code_of, fields_of, json_of, problem_of
from tests.fixtures.documents import excel, word


@pytest.fixture
async def plan(api: Api) -> str:
    """Where a text is."""
    return await put(api, word.chapters())


@pytest.fixture
async def budget(api: Api) -> str:
    """Where a workbook is."""
    return await put(api, excel.hard())


async def put(api: Api, content: bytes) -> str:
    path = f"/api/documents/doc-{str(uuid4())[:8]}"
    assert (await api.client.put(path, content=content)).status_code == 201
    return path


async def test_a_text_is_shown_as_markdown_a_page_and_json(api: Api, plan: str) -> None:
    markdown, page, told = [await api.get(f"{plan}/content", **{"as": kind}) for kind in ("md", "html", "json")]

    assert markdown.text.startswith("Front matter\n\n# Alpha\n")
    assert "<h1>Alpha</h1>" in page.text
    assert json_of(told)["format"] == "docx"
    types = [answer.headers["Content-Type"] for answer in (markdown, page, told)]
    assert types == ["text/markdown; charset=utf-8", "text/html; charset=utf-8", "application/json"]


async def test_what_is_shown_comes_as_a_download_that_no_browser_runs(api: Api, plan: str) -> None:
    name = plan.rpartition("/")[2]

    for kind in ("md", "html", "json"):
        headers = (await api.get(f"{plan}/content", **{"as": kind})).headers
        assert headers["Content-Disposition"] == f'attachment; filename="{name}.{kind}"'
        policy = headers["Content-Security-Policy"].split("; ")
        assert policy[0] == "sandbox"
        assert "frame-ancestors 'none'" in policy
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["X-Content-Type-Options"] == "nosniff"
        if kind == "html":
            assert "default-src 'none'" in policy


async def test_a_representation_has_a_tag_of_its_own(api: Api, plan: str) -> None:
    file = await api.client.get(f"{plan}/content")
    shown = await api.client.get(f"{plan}/content", params={"as": "md"})
    known = await api.client.get(f"{plan}/content", params={"as": "md"}, headers={"If-None-Match": '"1-md"'})
    other = await api.client.get(f"{plan}/content", params={"as": "md"}, headers={"If-None-Match": '"1", "1-html"'})

    assert (file.headers["ETag"], shown.headers["ETag"]) == ('"1"', '"1-md"')
    assert (known.status_code, known.headers["ETag"], known.content) == (304, '"1-md"', b"")
    assert other.status_code == 200


async def test_a_tag_of_a_representation_is_no_revision_to_upload_over(api: Api, plan: str) -> None:
    refused = await api.client.put(plan, content=blank(Format.DOCX, None), headers={"If-Match": '"1-md"'})

    assert code_of(refused) == (422, "invalid_parameter")


async def test_an_earlier_revision_is_shown_as_it_was(api: Api, plan: str) -> None:
    document_id = plan.rpartition("/")[2]
    task = await api.submit(taskType="add_chapter", documentId=document_id, payload={"title": "Other"})
    claimed = await api.start(task["id"])
    await api.end(claimed, await api.worker.editing.run(claimed, claimed.payload_json))

    now = await api.get(f"{plan}/content", **{"as": "md"})
    earlier = await api.get(f"{plan}/content", revision=1, **{"as": "md"})
    missing = await api.get(f"{plan}/content", revision=99, **{"as": "md"})

    assert (now.headers["ETag"], earlier.headers["ETag"]) == ('"2-md"', '"1-md"')
    assert "# Other" in now.text
    assert "# Other" not in earlier.text
    assert code_of(missing) == (404, "revision_not_found")


async def test_a_sheet_is_shown_as_csv(api: Api, budget: str) -> None:
    first = await api.get(f"{budget}/content", **{"as": "csv"})
    hidden = await api.get(f"{budget}/content", **{"as": "csv", "sheet": "Secret"})
    missing = await api.get(f"{budget}/content", **{"as": "csv", "sheet": "Secre"})

    assert next(csv.reader(io.StringIO(first.text)))[:3] == ["Region", "Amount", "Double"]
    assert first.headers["Content-Type"].startswith("text/csv; charset=utf-8")
    assert hidden.content == b"hidden North,7\r\n"
    assert code_of(missing) == (404, "node_not_found")
    assert "Secret" in problem_of(missing)["detail"]


async def test_what_a_document_cannot_be_shown_as_is_refused_with_what_it_can(api: Api, plan: str, budget: str) -> None:
    for path, asked, said in (
        (plan, {"as": "csv"}, "A docx can be shown as pdf, md, html, json"),
        (budget, {"as": "word"}, "A xlsx can be shown as pdf, md, html, csv, json"),
        (budget, {"as": "md", "sheet": "Data"}, "Only csv and json"),
        (budget, {"sheet": "Data"}, "Only with as=csv or as=json"),
        (plan, {"as": ""}, "A docx can be shown as"),
    ):
        refused = await api.get(f"{path}/content", **asked)

        assert code_of(refused) == (422, "invalid_parameter")
        assert said in problem_of(refused)["detail"]
        assert fields_of(refused) == ["sheet" if "sheet" in asked else "as"]


async def test_what_is_too_much_is_not_begun(api: Api) -> None:
    flood = await put(api, excel.repeating(600_000, cells=100))

    for kind in ("md", "html", "csv", "json"):
        refused = await api.get(f"{flood}/content", **{"as": kind})
        assert code_of(refused) == (413, "too_large_to_show")


async def test_without_libreoffice_a_pdf_is_refused_with_what_to_install(
    api: Api, plan: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(converter, "_PLACES", ())

    refused = await api.get(f"{plan}/content", **{"as": "pdf"})

    assert code_of(refused) == (501, "converter_missing")
    assert "apt-get install libreoffice" in json.loads(refused.text)["detail"]
