"""Validators: a read names the revision that it shows, and whoever has that already is not sent it again."""

from starlette.responses import Response


def etag(revision: int) -> dict[str, str]:
    """Return the header that names a revision."""
    return {"ETag": f'"{revision}"'}


def is_known(if_none_match: str | None, revision: int) -> bool:
    """Tell whether the caller has what is made of a revision; a tag that no revision has is nobody's."""
    if if_none_match is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in tags or f'"{revision}"' in tags


def unchanged(revision: int) -> Response:
    """Return the answer to a caller who has it."""
    return Response(status_code=304, headers=etag(revision))
