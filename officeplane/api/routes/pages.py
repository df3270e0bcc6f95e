"""Pages for people: what this is and where to go on, and the API to read and to try, all of it from our own files."""

from importlib.resources import files
from typing import Final

from fastapi import APIRouter
from starlette.responses import FileResponse

from officeplane.api.answer_headers import OURS_ALONE
from officeplane.api.problems import RefusedError

KEPT: Final = {"Cache-Control": "max-age=3600", **OURS_ALONE}
_STRICT: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGES: Final = files("officeplane.api") / "pages"
_SWAGGER: Final = {
    "swagger-ui-bundle.js": "swagger-ui-bundle.js",
    "swagger-ui.css": "swagger-ui.css",
    "favicon.png": "favicon-32x32.png",
}
"""What is taken of a package that is there for its files only."""

router = APIRouter(include_in_schema=False)


@router.get("/")
async def index() -> FileResponse:
    """Say what this is and where to go."""
    return _page("index.html")


@router.get("/docs")
async def docs() -> FileResponse:
    """Show the API to people."""
    return _page("docs.html")


@router.get("/pages.css")
async def style() -> FileResponse:
    """Return how our own page looks."""
    return FileResponse(str(_PAGES / "pages.css"), headers=KEPT)


@router.get("/docs/{name}")
async def asset(name: str) -> FileResponse:
    """Return a file that the page of the API is made of."""
    if name == "docs.js":
        return FileResponse(str(_PAGES / name), headers=KEPT)
    if name not in _SWAGGER:
        raise RefusedError("not_found", "The page of the API has no such file.")
    return FileResponse(str(files("fastapi_swagger.resources") / _SWAGGER[name]), headers=KEPT)


def _page(name: str) -> FileResponse:
    return FileResponse(str(_PAGES / name), headers={"Content-Security-Policy": _STRICT, **OURS_ALONE})
