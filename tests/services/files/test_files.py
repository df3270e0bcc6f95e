"""Files: a revision's bytes, put together from the ledger's pieces."""

import pytest

from officeplane.domain.document import Format
from officeplane.domain.errors import DocumentNotFoundError
from officeplane.domain.principal import LOCAL
from officeplane.domain.revision import EditBase
from officeplane.sandbox.operations import Compare
from officeplane.services.files.files import ask, content
from officeplane.store import documents
from tests.workbench import Workbench


async def test_a_file_is_what_its_recipe_says(bench: Workbench) -> None:
    made = await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    stored = await documents.revision(bench.runtime.ledger, "plan", None)
    assert stored is not None

    data = b"".join([block async for block in content(bench.runtime.ledger, "plan", stored.base.recipe)])

    assert len(data) == made.size
    assert data.startswith(b"PK")


async def test_a_file_whose_document_is_deleted_while_it_is_read_is_not_found(bench: Workbench) -> None:
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    stored = await documents.revision(bench.runtime.ledger, "plan", None)
    assert stored is not None
    await bench.runtime.documents.delete(LOCAL, "plan")

    with pytest.raises(DocumentNotFoundError):
        _ = [block async for block in content(bench.runtime.ledger, "plan", stored.base.recipe)]


async def test_revisions_of_two_documents_are_not_given_to_one_child(bench: Workbench) -> None:
    bases: list[EditBase] = []
    for name in ("plan", "contract"):
        await bench.runtime.documents.create(LOCAL, name, Format.DOCX, None, None)
        stored = await documents.revision(bench.runtime.ledger, name, None)
        assert stored is not None
        bases.append(stored.base)
    comparison = Compare(*(base.state for base in bases))

    with pytest.raises(ValueError, match="too many values"):
        await ask(bench.runtime.ledger, bench.runtime.sandbox, comparison, *bases)
