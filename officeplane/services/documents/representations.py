"""Representations: a revision as something else than its file, made anew for whoever asks."""

from contextlib import aclosing
from typing import NamedTuple

from officeplane.domain.principal import Principal
from officeplane.domain.representation import Representation, RepresentationWanted, representation_of
from officeplane.domain.revision import EditBase
from officeplane.sandbox.converter import Converter
from officeplane.sandbox.operations import Represent
from officeplane.sandbox.pool import Sandbox
from officeplane.services.documents.asking import asked, stored
from officeplane.services.files.files import content
from officeplane.store.connection import Ledger


class Asked(NamedTuple):
    """Which revision is to be shown, and as what."""

    base: EditBase
    wanted: RepresentationWanted


class Representations:
    """Shows revisions as PDF, Markdown, HTML, CSV or JSON."""

    def __init__(self, ledger: Ledger, sandbox: Sandbox, converter: Converter) -> None:
        self._ledger = ledger
        self._sandbox = sandbox
        self._converter = converter

    async def find(self, caller: Principal, name: str, revision: int | None, kind: str, sheet: str | None) -> Asked:
        """Return what is asked for; what the document's format cannot be shown as is refused."""
        base = (await stored(self._ledger, caller.document(name), revision)).base
        return Asked(base, RepresentationWanted(representation_of(base.format, kind, sheet), sheet))

    async def make(self, what: Asked) -> bytes:
        """Return the bytes of it."""
        base, wanted = what
        if wanted.kind is not Representation.PDF:
            return (await asked(self._ledger, self._sandbox, Represent(base.state, wanted), base)).content
        async with aclosing(content(self._ledger, base.document_id, base.recipe)) as blocks:
            return await self._converter.pdf(base.format, blocks)
