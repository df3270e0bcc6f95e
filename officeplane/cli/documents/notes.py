"""Notes: which revision of which document a local file was when it came or went, kept in the user's state folder.

Whoever edits a file has read the revision that it was. The note is what lets
`put` say so, and a file that still has the bytes of its note holds nothing of
anybody's that could be lost.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ValidationError

from officeplane.cli.state_folder import keep, state_file


class Note(BaseModel):
    """What a file was."""

    path: str
    url: str
    document_id: str
    revision: int
    sha256: str


def noted(file: Path) -> Note | None:
    """Return what is known of a file; None when nothing is."""
    with suppress(OSError, ValidationError):
        return Note.model_validate_json(_place(file).read_bytes())
    return None


def note(file: Path, url: str, document_id: str, revision: int, data: bytes) -> bool:
    """Keep what a file is from now on; False when that cannot be kept."""
    made = Note(
        path=str(file.absolute()),
        url=url,
        document_id=document_id,
        revision=revision,
        sha256=hashlib.sha256(data).hexdigest(),
    )
    return keep(_place(file), made.model_dump_json())


def _place(file: Path) -> Path:
    # A name for each path, so that files know nothing of each other.
    name = hashlib.sha256(os.fsencode(file.absolute())).hexdigest()
    return state_file("documents", f"{name[:32]}.json")
