"""The protocol: what one end says is what the other hears, and nothing is an answer but to what was asked."""

import socket
from typing import Any

import pytest

from officeplane.domain.document import Format, InvalidEditError, UnsupportedDocumentError
from officeplane.domain.errors import NodeNotFoundError, OfficePlaneError, TooLargeToShowError
from officeplane.domain.representation import Representation, RepresentationWanted
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.kept_links import Kept
from officeplane.formats.reading.differing import DiffWanted
from officeplane.formats.reading.finding import FindWanted
from officeplane.formats.reading.listing import ListWanted
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.formats.reading.showing import NodeWanted
from officeplane.formats.reading.telling import TextWanted
from officeplane.frames import Body, Frame, receive, send
from officeplane.sandbox.answers import (
    Admitted,
    Answer,
    Applied,
    Blank,
    Broke,
    Changed,
    Compared,
    Invalid,
    Items,
    KeptTold,
    Matched,
    Missing,
    NoNode,
    Outline,
    Previewed,
    Refused,
    Represented,
    TakenSlide,
    Text,
    TextPart,
    TooLarge,
    Unsupported,
    accepted,
)  # fmt: skip
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
    Operation,
    Preview,
    ReadCells,
    ReadNode,
    ReadNodes,
    ReadOutline,
    ReadText,
    ReadTextPart,
    Represent,
    TakeSlide,
    TellKept,
)  # fmt: skip
from officeplane.sandbox.protocol import Said, decode_answer, decode_request, encode_answer, encode_request
from tests.sandbox.asking import AFile, an_order

HALF_A_CHARACTER = "a\ud83d"
ORDERS = (an_order("add_chapter", title="One"), an_order("set_properties", title="Two"))
NODE: Body = {"id": "n", "kind": "page", "text": HALF_A_CHARACTER, "marks": {"picture": 2}, "children": []}
ASKED: list[tuple[AnyOperation, Answer]] = [
    (Check(), Admitted(Format.DOCX, [1, 2], "A title")),
    (MakeBlank(Format.XLSX, None), Blank([b"a file"])),
    (ReadOutline("state"), Outline([{**NODE, "children": [NODE]}])),
    (ReadText("state"), Text.of(HALF_A_CHARACTER)),
    (Compare("one", "other"), Compared({"text": [], "nodes": {"added": []}})),
    (Match("one", "other", "task", head_is_named=True), Matched([b"names"])),
    (FindChanged("one", "other", ORDERS), Changed(["n"])),
    (Preview("state", ORDERS), Previewed([{}, {"id": "n"}], {"text": ["+a"]})),
    (Apply("state", (ORDERS, ORDERS)), Applied([{}, {"id": "n"}], "A title", [b"a recipe", b"a piece"])),
    (ReadNodes("state", OutlineWanted(2, None, ("table",), texts=True)), Items([{"id": HALF_A_CHARACTER}], 7)),
    (ReadNode("state", NodeWanted("n", form=True)), Items([{"id": "n", "children": [{"id": "m"}]}], None)),
    (FindText("state", FindWanted("a", under="n", kinds=("cell",))), Items([], None)),
    (ReadTextPart("state", TextWanted("n", 3, 50)), TextPart(9, [b"a text"])),
    (ListNodes("state", ListWanted("changes", begin=2)), Items([{"id": "change-1"}], None)),
    (ReadCells("state", CellsWanted("Plan", "A1:B2", ("values",), 1, 50)), Items([{"cell": "A1", "value": 1.5}], 2)),
    (Represent("state", RepresentationWanted(Representation.CSV, "Plan")), Represented([b"1,2"])),
    (TakeSlide("state", "slide-256"), TakenSlide([b"file"])),
    (TellKept("state"), KeptTold([Kept.PICTURE])),
    (ComparePart("one", "other", DiffWanted("unified", 0)), Items([{"line": "+a"}], None)),
]
REFUSALS: list[Refused] = [
    Invalid("no such node", {"losses": [{"kind": "picture", "times": 2}]}, 1),
    Unsupported("macros", "It has macros."),
    TooLarge(),
    NoNode("n", "m"),
    Missing("state"),
]
ERRORS = [
    InvalidEditError, UnsupportedDocumentError, TooLargeToShowError, NodeNotFoundError, UnsupportedDocumentError,
]  # fmt: skip


def over_the_wire(body: Body, attached: Any = ()) -> Frame:
    """Return a frame as it is received."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send(ours, body, attached)
        return receive(theirs)


@pytest.mark.parametrize("operation", [operation for operation, _ in ASKED], ids=lambda one: one.name)
def test_an_operation_is_heard_as_it_was_asked_for(operation: AnyOperation) -> None:
    file = AFile(b"a file" * 1_000)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(encode_request(operation))
        ours.sendall(encode_request(operation, file.opening, len(file.data)) + file.data)

        alone, with_a_file = (decode_request(receive(theirs)) for _ in range(2))

    assert alone == (operation, None, b"")
    assert with_a_file == (operation, file.opening, file.data)


@pytest.mark.parametrize(("operation", "answer"), ASKED, ids=lambda one: type(one).__name__)
def test_an_answer_is_heard_as_it_was_said(operation: Operation[Any], answer: Answer) -> None:
    frame = over_the_wire(*encode_answer(answer, recycle=True))

    assert decode_answer(operation, frame) == Said(answer, True)


@pytest.mark.parametrize("answer", [*REFUSALS, Broke("KeyError: 'x'", "a stack")], ids=lambda one: type(one).__name__)
def test_everything_can_be_refused(answer: Refused | Broke) -> None:
    operations: list[Operation[Any]] = [operation for operation, _ in ASKED]
    for operation in operations:
        assert decode_answer(operation, over_the_wire(*encode_answer(answer, recycle=False))) == Said(answer, False)


@pytest.mark.parametrize(("operation", "own"), ASKED, ids=lambda one: type(one).__name__)
def test_what_answers_another_operation_is_no_answer(operation: Operation[Any], own: Answer) -> None:
    for _, answer in ASKED:
        if type(answer) is not type(own):
            with pytest.raises(ValueError, match="no answer"):
                decode_answer(operation, encode_answer(answer, recycle=False))


NO_ANSWERS: list[object] = [
    {"results": [{}, {}]},
    {"results": [{}, {}], "title": None, "obey": True},
    {"results": [{}, {}], "title": 1},
    {"results": [{}, 1], "title": None},
    {"results": {}, "title": None},
    {"results": [{}], "title": None},
    {"results": [{}, {}, {}], "title": None},
    [],
    None,
]


@pytest.mark.parametrize("told", NO_ANSWERS)
def test_what_is_no_answer_to_an_edit_is_refused(told: object) -> None:
    frame = Frame({"answer": "Applied", "with": told, "recycle": False}, [b"a recipe"])

    with pytest.raises(ValueError, match=r"."):
        decode_answer(Apply("state", (ORDERS,)), frame)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"answer": "Text", "with": {}},
        {"answer": "Text", "with": {}, "recycle": "no"},
        {"answer": "Text", "with": {}, "recycle": False, "more": True},
        {"answer": "Secret", "with": {}, "recycle": False},
        {"answer": "ReadText", "with": {"state": "x"}, "recycle": False},
        {"answer": ["Text"], "with": {}, "recycle": False},
    ],
)
def test_what_is_no_answer_at_all_is_refused(body: Body) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_answer(ReadText("state"), Frame(body, [b"text"]))


def test_bytes_come_only_where_an_answer_has_them() -> None:
    with pytest.raises(ValueError, match="attached"):
        decode_answer(ReadText("state"), Frame({"answer": "Text", "with": {}, "recycle": False}))
    with pytest.raises(ValueError, match="attached"):
        decode_answer(Compare("one", "other"), Frame(encode_answer(ASKED[4][1], recycle=False).body, [b"more"]))


def test_nothing_is_missing_for_what_a_child_has_just_made_itself() -> None:
    frame = encode_answer(Missing("state"), recycle=False)

    with pytest.raises(ValueError, match="no answer"):
        decode_answer(Apply("state", (ORDERS,)), frame, may_be_missing=False)


@pytest.mark.parametrize(
    ("refused", "error"),
    list(zip(REFUSALS, ERRORS, strict=True)),
    ids=lambda one: getattr(one, "__name__", None),
)
def test_a_refusal_is_an_error_in_domain_words(refused: Refused, error: type[OfficePlaneError]) -> None:
    with pytest.raises(error):
        accepted(refused)
