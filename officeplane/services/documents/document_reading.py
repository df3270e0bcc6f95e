"""Reading in parts: outlines, nodes, finds and stretches of text of a revision, as much as is wanted at once."""

from collections.abc import Callable

from officeplane.domain.ids import DocumentId
from officeplane.domain.principal import Principal
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.reading.differing import DiffWanted
from officeplane.formats.reading.finding import FindWanted
from officeplane.formats.reading.listing import ListWanted
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.formats.reading.showing import NodeWanted
from officeplane.formats.reading.telling import TextWanted, Told
from officeplane.sandbox.answers import Items
from officeplane.sandbox.operations import (
    ComparePart,
    FindText,
    ListNodes,
    Operation,
    ReadCells,
    ReadNode,
    ReadNodes,
    ReadPicture,
    ReadTextPart,
)
from officeplane.sandbox.pool import Sandbox
from officeplane.services.documents.asking import asked, stored
from officeplane.store.connection import Ledger


class DocumentReading:
    """What is in documents, part by part; every call names the revision that it reads."""

    def __init__(self, ledger: Ledger, sandbox: Sandbox) -> None:
        self._ledger = ledger
        self._sandbox = sandbox

    async def outline(self, caller: Principal, name: str, revision: int, wanted: OutlineWanted) -> Items:
        """Return the nodes of a revision as outlines list them."""
        return await self._items(caller.document(name), revision, lambda state: ReadNodes(state, wanted))

    async def node(self, caller: Principal, name: str, revision: int, wanted: NodeWanted) -> Items:
        """Return one node of a revision."""
        return await self._items(caller.document(name), revision, lambda state: ReadNode(state, wanted))

    async def find(self, caller: Principal, name: str, revision: int, wanted: FindWanted) -> Items:
        """Return where in a revision a text stands."""
        return await self._items(caller.document(name), revision, lambda state: FindText(state, wanted))

    async def text(self, caller: Principal, name: str, revision: int, wanted: TextWanted) -> Told:
        """Return what a revision says, or a part of it."""
        base = (await stored(self._ledger, caller.document(name), revision)).base
        part = await asked(self._ledger, self._sandbox, ReadTextPart(base.state, wanted), base)
        return Told(part.text, part.next)

    async def listed(self, caller: Principal, name: str, revision: int, wanted: ListWanted) -> Items:
        """Return the changes, comments, pictures or sheets of a revision."""
        return await self._items(caller.document(name), revision, lambda state: ListNodes(state, wanted))

    async def picture(self, caller: Principal, name: str, revision: int, node_id: str) -> bytes:
        """Return the bytes of a picture of a revision."""
        base = (await stored(self._ledger, caller.document(name), revision)).base
        return (await asked(self._ledger, self._sandbox, ReadPicture(base.state, node_id), base)).content

    async def cells(self, caller: Principal, name: str, revision: int, wanted: CellsWanted) -> Items:
        """Return what cells of a revision hold."""
        return await self._items(caller.document(name), revision, lambda state: ReadCells(state, wanted))

    async def difference(self, caller: Principal, name: str, before: int, after: int, wanted: DiffWanted) -> Items:
        """Return a part of what changed between two revisions."""
        document_id = caller.document(name)
        one, other = [(await stored(self._ledger, document_id, number)).base for number in (before, after)]
        return await asked(self._ledger, self._sandbox, ComparePart(one.state, other.state, wanted), one, other)

    async def _items(self, document_id: DocumentId, revision: int, made: Callable[[str], Operation[Items]]) -> Items:
        base = (await stored(self._ledger, document_id, revision)).base
        return await asked(self._ledger, self._sandbox, made(base.state), base)
