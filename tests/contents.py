"""What is in documents, whole, as handlers read it."""

from typing import Any

from officeplane.domain.principal import LOCAL
from officeplane.runtime import Runtime
from officeplane.sandbox.operations import ReadOutline, ReadText
from officeplane.services.documents.asking import asked, stored


async def outline(runtime: Runtime, name: str, revision: int | None = None) -> list[dict[str, Any]]:
    """The tree of a revision's nodes."""
    base = (await stored(runtime.ledger, LOCAL.document(name), revision)).base
    return (await asked(runtime.ledger, runtime.sandbox, ReadOutline(base.state), base)).nodes


async def text(runtime: Runtime, name: str, revision: int | None = None) -> str:
    """What a revision says."""
    base = (await stored(runtime.ledger, LOCAL.document(name), revision)).base
    return (await asked(runtime.ledger, runtime.sandbox, ReadText(base.state), base)).text
