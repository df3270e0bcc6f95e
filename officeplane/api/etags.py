"""Validators: a read names the revision that it shows; whoever has that is not sent it again, or may replace it."""

from starlette.responses import Response

from officeplane.domain.representation import Representation
from officeplane.services.documents.uploads import ANY, IfMatch


def etag(revision: int) -> dict[str, str]:
    """Return the header that names a revision."""
    return {"ETag": f'"{revision}"'}


def etag_of(revision: int, kind: Representation) -> dict[str, str]:
    """Return the header that names a representation of a revision."""
    # Two PDF of one revision say the same in other bytes: the time at which they were made is in them.
    weak = "W/" if kind is Representation.PDF else ""
    return {"ETag": f'{weak}"{revision}-{kind}"'}


def revision_in(if_match: str | None) -> IfMatch:
    """Return what an upload says that it is to follow; its form was checked."""
    match if_match:
        case None:
            return None
        case "*":
            return ANY
        case tag:
            return int(tag.strip('"'))


def is_known(if_none_match: str | None, revision: int, kind: Representation | None = None) -> bool:
    """Tell whether the caller has what is made of a revision; a tag that no revision has is nobody's."""
    if if_none_match is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in tags or f'"{revision}{"" if kind is None else f"-{kind}"}"' in tags


def unchanged(revision: int, kind: Representation | None = None) -> Response:
    """Return the answer to a caller who has it."""
    return Response(status_code=304, headers=etag(revision) if kind is None else etag_of(revision, kind))
