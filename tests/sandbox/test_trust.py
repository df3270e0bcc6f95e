"""Trust: whom a child may serve, for every operation that there is."""

from typing import Any, cast, get_args

import pytest

from officeplane.domain.document import Format
from officeplane.domain.representation import Representation, RepresentationWanted
from officeplane.domain.space import Space, qualified
from officeplane.formats.blank import blank
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.reading.differing import DiffWanted
from officeplane.formats.reading.finding import FindWanted
from officeplane.formats.reading.listing import ListWanted
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.formats.reading.showing import NodeWanted
from officeplane.formats.reading.telling import TextWanted
from officeplane.sandbox.operations import (
    AnyOperation,
    Apply,
    Check,
    Compare,
    ComparePart,
    FindChanged,
    FindText,
    ListNodes,
    MakeBlank,
    Match,
    Merge,
    Operation,
    Preview,
    ReadCells,
    ReadNode,
    ReadNodes,
    ReadOutline,
    ReadPicture,
    ReadText,
    ReadTextPart,
    Represent,
    TakeSlide,
    TellKept,
)  # fmt: skip
from officeplane.sandbox.pool import Sandbox
from tests.sandbox.asking import AFile, an_order
from tests.sandbox.processes import born

BLANK = AFile(blank(Format.DOCX, "A title"))
STATE = BLANK.state
ORDERS = (an_order("add_chapter", title="One"),)
ABOUT_A_DOCUMENT: list[Operation[Any]] = [
    ReadOutline(STATE),
    ReadText(STATE),
    ReadNodes(STATE, OutlineWanted()),
    ReadNode(STATE, NodeWanted("none-such")),
    FindText(STATE, FindWanted("A title")),
    ReadTextPart(STATE, TextWanted()),
    ListNodes(STATE, ListWanted("comments")),
    ReadPicture(STATE, "picture-1"),
    ReadCells(STATE, CellsWanted("none-such")),
    Represent(STATE, RepresentationWanted(Representation.MARKDOWN)),
    TakeSlide(STATE, "slide-256"),
    TellKept(STATE),
    ComparePart(STATE, STATE, DiffWanted()),
    Compare(STATE, STATE),
    Match(STATE, STATE, "task", head_is_named=False),
    Merge(STATE, STATE, STATE, "task"),
    FindChanged(STATE, STATE, ORDERS),
    Preview(STATE, ORDERS),
    Apply(STATE, (ORDERS,)),
]
ON_THEIR_OWN: list[Operation[Any]] = [Check(), MakeBlank(Format.DOCX, None)]
DOCUMENTS = [qualified(Space(space), "contract") for space in ("default", "acme", "other")]
"""Of one name, in three spaces."""


def test_of_every_operation_it_is_said_whom_its_child_serves() -> None:
    assert {type(one) for one in (*ABOUT_A_DOCUMENT, *ON_THEIR_OWN)} == set(get_args(AnyOperation))
    assert all(one.is_about_a_document for one in ABOUT_A_DOCUMENT)
    assert not any(one.is_about_a_document for one in ON_THEIR_OWN)


@pytest.mark.parametrize("operation", ABOUT_A_DOCUMENT, ids=lambda one: one.name)
async def test_documents_of_two_spaces_never_meet_in_a_child(sandbox: Sandbox, operation: Operation[Any]) -> None:
    children: dict[str, set[int]] = {}
    for _ in range(2):
        for name in DOCUMENTS:
            before = set(born())
            await sandbox.ask(operation, document=name, file=BLANK.to_open())
            children.setdefault(name, set()).update(set(born()) - before)

    # Each has had one born the first time, and found it again the second.
    assert [len(pids) for pids in children.values()] == [1] * len(DOCUMENTS)
    assert len(set[int]().union(*children.values())) == len(DOCUMENTS)


@pytest.mark.parametrize("operation", ON_THEIR_OWN, ids=lambda one: one.name)
async def test_what_belongs_to_no_document_has_a_child_that_ends_with_it(
    sandbox: Sandbox, operation: Operation[Any]
) -> None:
    await sandbox.ask(ReadText(STATE), document="acme/contract", file=BLANK.to_open())
    others = born()

    await sandbox.ask(operation, file=BLANK.to_look_at() if isinstance(operation, Check) else None)

    assert born() == others


@pytest.mark.parametrize("operation", [*ABOUT_A_DOCUMENT, *ON_THEIR_OWN], ids=lambda one: one.name)
async def test_nobody_is_asked_for_what_its_child_does_not_serve(sandbox: Sandbox, operation: Operation[Any]) -> None:
    wrong = None if operation.is_about_a_document else "acme/contract"

    with pytest.raises(ValueError, match="belongs to"):
        await sandbox.ask(cast("Operation[object]", operation), document=wrong)

    assert born() == []
