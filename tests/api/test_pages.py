"""The pages for people, which run nothing of anybody else's."""

import re
from importlib.metadata import distribution

import pytest

from tests.api.client import Api, code_of, problem_of

LINKED = re.compile(r'(?:src|href)="([^"]*)"')


async def test_the_front_page_says_what_this_is_and_where_to_go(api: Api) -> None:
    front = await api.get("/")

    assert front.headers["Content-Type"].startswith("text/html")
    assert "task queue" in front.text
    for path in LINKED.findall(front.text):
        assert (await api.get(f"/{path}")).status_code == 200, path


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_a_page_is_made_of_our_own_files_and_says_so(api: Api, path: str) -> None:
    page = await api.get(path)

    assert "//" not in page.text.replace("http://www.w3.org", "")
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=", page.text)
    policy = {part.strip() for part in page.headers["Content-Security-Policy"].split(";")}
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"} <= policy
    assert not any("unsafe" in part for part in policy)


async def test_the_api_can_be_looked_at_without_the_internet(api: Api) -> None:
    page = await api.get("/docs")

    kinds = {path: (await api.get(f"/{path}")).headers["Content-Type"] for path in LINKED.findall(page.text)}

    assert kinds == {
        "docs/favicon.png": "image/png",
        "docs/swagger-ui.css": "text/css; charset=utf-8",
        "docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
        "docs/docs.js": "text/javascript; charset=utf-8",
        "openapi.json": "application/json",
    }


async def test_no_other_page_is_there(api: Api) -> None:
    for path in ("/redoc", "/docs/oauth2-redirect", "/docs/..%2Fapp.py", "/docs/%2e%2e%2fapp.py", "/docs/nothing.js"):
        assert code_of(await api.get(path)) == (404, "not_found"), path
    assert "no such file" in problem_of(await api.get("/docs/nothing.js"))["detail"]


def test_swagger_is_taken_for_its_files_only() -> None:
    code = [str(file) for file in distribution("fastapi-swagger").files or () if str(file).endswith((".py", ".so"))]

    assert code == ["fastapi_swagger/__init__.py", "fastapi_swagger/main.py", "fastapi_swagger/resources/__init__.py"]
