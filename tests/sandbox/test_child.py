"""A child: documents stay open, edits are all or none, and whoever asks too much hears so."""

import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import Any, Final, TypeVar

import pytest

from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from officeplane.formats.naming.names import Names
from officeplane.frames import receive
from officeplane.sandbox.answers import Admitted, Applied, Broke, Changed, Invalid, Refused, Unsupported, accepted
from officeplane.sandbox.child import serve
from officeplane.sandbox.operations import Apply, Check, Compare, FindChanged, Operation, Order, ReadOutline
from officeplane.sandbox.protocol import Said, decode_answer, encode_request
from officeplane.sandbox.shelf import STATES_MAX
from tests.fixtures.documents import powerpoint
from tests.sandbox.asking import AFile, an_order, apply, done, edited, missing, preview, said, state_of, text

A = TypeVar("A")
DECK: Final = powerpoint.HARD["plain"]()
DOCX = AFile(blank(Format.DOCX, None))
BLANKS = [DOCX, AFile(blank(Format.XLSX, None), Format.XLSX), AFile(blank(Format.PPTX, None), Format.PPTX)]
EDITS = [
    an_order("add_chapter", "1", title="One"),
    an_order("set_cells", "1", sheet="Sheet1", cells={"B2": 42}),
    an_order("add_slide", "1", title="One"),
]
NEXT = [
    an_order("add_chapter", "2", title="Two"),
    an_order("set_cells", "2", sheet="Sheet1", cells={"C3": 43}),
    an_order("add_slide", "2", title="Two"),
]
CASES = list(zip(BLANKS, EDITS, strict=True))
WRONG = an_order("replace_text", find="nowhere to be found", replace="x", expectedCount=3)


class Line:
    """The other end of a child that runs in a thread of this process, without its resource limits."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def ask(self, operation: Operation[A], file: AFile | None = None, data: bytes | None = None) -> A | Refused | Broke:
        """Ask the child, which may be given a file to open, or bytes to look at."""
        if file is not None:
            self._connection.sendall(encode_request(operation, file.opening, len(file.data)) + file.data)
        else:
            self._connection.sendall(
                encode_request(operation, None, None if data is None else len(data)) + (data or b"")
            )
        return self.hear(operation).answer

    def hear(self, operation: Operation[A]) -> Said[A]:
        """Return the next answer to an operation."""
        return decode_answer(operation, receive(self._connection))

    def open(self, file: AFile) -> None:
        said(self.ask(text(file), file))

    def text(self, of: object) -> str:
        return said(self.ask(text(of)))


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    monkeypatch.setattr("officeplane.sandbox.resource_limits.allow_more_time", lambda: None)
    monkeypatch.setattr("officeplane.sandbox.resource_limits.is_worn", lambda: False)
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=serve, args=(theirs,))
    thread.start()
    yield Line(ours)
    ours.close()
    thread.join()
    theirs.close()


@pytest.mark.parametrize(("file", "order", "second"), list(zip(BLANKS, EDITS, NEXT, strict=True)))
def test_a_warm_document_becomes_what_a_cold_one_becomes(line: Line, file: AFile, order: Order, second: Order) -> None:
    line.open(file)
    first = line.ask(apply(file, order))
    between = AFile(edited(first, file), file.opening.format)
    warm = line.ask(apply(first, second))

    assert missing(line.ask(text(between))) == between.state
    line.open(between)
    cold = line.ask(apply(between, second))

    assert edited(warm, file, first) == edited(cold, between)


@pytest.mark.parametrize(("file", "order"), CASES)
def test_a_failing_edit_leaves_the_document_as_it_was(line: Line, file: AFile, order: Order) -> None:
    line.open(file)
    before = line.text(file)
    cold = line.ask(apply(file, order))
    line.open(file)

    refused = line.ask(apply(file, order, WRONG))

    assert isinstance(refused, Invalid)
    assert refused.index == 1
    assert line.text(file) == before
    assert line.ask(apply(file, order)) == cold


@pytest.mark.parametrize(("file", "order"), CASES)
def test_a_preview_tells_and_changes_nothing(line: Line, file: AFile, order: Order) -> None:
    line.open(file)
    before = line.text(file)

    seen = accepted(plain(line.ask(preview(file, order))))

    assert any(seen.difference["nodes"].values()) or seen.difference["text"]
    assert line.text(file) == before
    after = line.ask(apply(file, order))
    # In a Word document ids are given by the task; elsewhere they are the file's own numbers.
    assert seen.results == ([{}] if file is DOCX else done(after).results)
    line.open(file)
    assert line.ask(apply(file, order)) == after


def test_several_edits_are_applied_in_order_as_one_file(line: Line) -> None:
    line.open(DOCX)

    answer = line.ask(
        apply(DOCX, an_order("add_chapter", "t/0", title="One"), an_order("add_chapter", "t/1", title="Two"))
    )

    one, two = done(answer).results
    assert one["id"] != two["id"]
    whole = line.text(answer)
    assert whole.index("One") < whole.index("Two")


def test_only_pieces_that_the_ledger_has_not_are_sent_along(line: Line) -> None:
    line.open(DOCX)
    first = line.ask(apply(DOCX, an_order("add_chapter", "1", title="One")))
    second = line.ask(apply(first, an_order("set_properties", "2", title="Another")))

    assert not set(done(first).pieces) & set(done(second).pieces)


@pytest.mark.parametrize(
    "order",
    [
        an_order("edit_page", pageId="no-such", content="x"),
        an_order("edit_node", nodeId="p-00000000", text="x"),
        an_order("set_cells", sheet="Sheet1", cells={"A1": 1}),
        an_order("add_chapter", title=""),
        an_order("add_chapter", tittle="x"),
    ],
    ids=["no such target", "no such node", "other format", "too short", "unknown field"],
)
def test_an_edit_that_cannot_work_is_told_as_invalid(line: Line, order: Order) -> None:
    line.open(DOCX)

    answer = line.ask(apply(DOCX, order))

    assert isinstance(answer, Invalid)
    assert answer.message
    assert line.text(DOCX) is not None, "it goes on"


def test_the_gate_stands_before_everything(line: Line) -> None:
    assert isinstance(line.ask(Check(), data=b"no zip at all"), Unsupported)
    assert accepted(plain(line.ask(Check(), data=DOCX.data))).format is Format.DOCX


def test_documents_that_were_not_used_for_long_are_forgotten(line: Line) -> None:
    files = [AFile(blank(Format.XLSX, f"number {n}"), Format.XLSX) for n in range(STATES_MAX + 1)]
    for file in files:
        line.open(file)

    assert missing(line.ask(text(files[0]))) == files[0].state
    assert line.text(files[-1])


def test_two_revisions_are_compared_and_the_one_that_is_not_there_is_asked_for(line: Line) -> None:
    line.open(DOCX)
    changed = line.ask(apply(DOCX, EDITS[0]))
    operation = Compare(DOCX.state, state_of(changed))

    assert missing(line.ask(operation)) == DOCX.state
    line.open(DOCX)

    (added,) = accepted(plain(line.ask(operation))).difference["nodes"]["added"]
    assert added["text"] == "One"


def test_a_fingerprint_tells_whether_what_an_edit_aims_at_was_changed(line: Line) -> None:
    line.open(DOCX)
    answer = line.ask(apply(DOCX, an_order("write_page", "1", content="A page.")))
    page = done(answer).results[0]["id"]
    base = AFile(edited(answer, DOCX))
    line.open(base)
    head = AFile(edited(line.ask(apply(base, an_order("edit_page", "2", pageId=page, content="Other."))), base))
    line.open(base)
    line.open(head)
    mine = an_order("edit_page", "3", pageId=page, content="Mine.")

    assert line.ask(FindChanged(base.state, head.state, (mine,))) == Changed([page])
    assert line.ask(FindChanged(head.state, head.state, (mine,))) == Changed([])


def test_a_file_is_open_under_its_names_beside_the_same_file_without(line: Line) -> None:
    names = Names(seed="task").encode()
    plain_file, other = AFile(DECK, Format.PPTX), AFile(DECK, Format.PPTX, names)
    line.open(plain_file)
    line.open(other)

    one, another = ([node["id"] for node in _outline(line, file)] for file in (plain_file, other))

    assert len(one) == len(another) > 0
    assert not {*one} & {*another}


def test_an_edit_of_a_file_with_names_writes_them_and_a_refused_one_leaves_them(line: Line) -> None:
    file = AFile(DECK, Format.PPTX, Names(seed="task").encode())
    line.open(file)
    ids = [node["id"] for node in _outline(line, file)]

    refused = line.ask(apply(file, an_order("delete_slide", slideId="slide-256")))
    after_refusal = [node["id"] for node in _outline(line, file)]
    written = AFile(
        edited(line.ask(apply(file, an_order("set_notes", slideId=ids[0], notes="Some."))), file), Format.PPTX
    )
    line.open(written)

    assert isinstance(plain(refused), Invalid)
    assert after_refusal == ids
    assert [node["id"] for node in _outline(line, written)] == ids


def _outline(line: Line, file: AFile) -> list[dict[str, Any]]:
    return [*accepted(plain(line.ask(ReadOutline(file.state)))).nodes]


CONFINED = """
    import os, socket, sys
    from officeplane.sandbox import child, confinement, resource_limits

    def burn(*_):
        while True: pass

    def grow(*_):
        return bytearray(resource_limits.MEMORY_BYTES)

    def write(*_):
        open("/tmp/officeplane-must-not-be", "w").write("x" * 100000)

    child.admit = {"burn": burn, "grow": grow, "write": write}[sys.argv[2]]
    if sys.argv[2] == "burn":
        # Of which the start has used up a part that differs: the others could be left without any.
        resource_limits.CPU_SECONDS = 1
    connection = socket.socket(fileno=int(sys.argv[1]))
    confinement.confine(os.getppid(), has_namespaces=False)
    child.serve(connection)
"""


def confined(what: str) -> tuple[int, Said[Admitted] | None]:
    """Return how a confined child ended that does something beyond its bounds, and what it said."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        program = textwrap.dedent(CONFINED)
        command = [sys.executable, "-I", "-c", program, str(theirs.fileno()), what]
        process = subprocess.Popen(command, pass_fds=(theirs.fileno(),), env={}, stderr=subprocess.DEVNULL)
        theirs.close()
        ours.settimeout(30)
        said: Said[Admitted] | None = None
        try:
            ours.sendall(encode_request(Check(), None, 0))
            said = decode_answer(Check(), receive(ours))
        except ConnectionError:
            pass
        finally:
            ours.close()
            status = process.wait(timeout=30)
    return status, said


def test_more_time_than_allowed_ends_the_child() -> None:
    assert confined("burn") == (signal.SIGXCPU, None)


def test_more_memory_than_allowed_is_told_as_too_complex_and_the_child_is_used_up() -> None:
    status, said = confined("grow")

    assert said is not None
    assert said == (Unsupported("too_complex", "the document needs more memory than is allowed"), True)
    assert status == 0


def test_a_child_writes_no_files() -> None:
    status, said = confined("write")

    assert said is None or isinstance(said.answer, Broke)
    assert status in (0, -signal.SIGXFSZ)


def test_an_order_is_json_that_a_child_reads_strictly(line: Line) -> None:
    line.open(DOCX)

    answer = line.ask(apply(DOCX, an_order("add_chapter", title="One", position="1")))

    assert isinstance(answer, Invalid)
    assert "position" in answer.message


def test_a_file_that_is_kept_in_other_pieces_than_it_is_open_in_is_asked_for(line: Line) -> None:
    line.open(DOCX)
    elsewhere = Apply("of the same bytes", ((EDITS[0],),))

    assert missing(line.ask(elsewhere)) == "of the same bytes"
    assert isinstance(line.ask(apply(DOCX, EDITS[0])), Applied)


def test_revisions_in_a_row_are_answered_one_by_one_and_each_is_what_it_would_be_alone(line: Line) -> None:
    line.open(DOCX)
    one, two = an_order("add_chapter", "1", title="One"), an_order("add_chapter", "2", title="Two")
    first = line.ask(apply(DOCX, one))
    second = line.ask(apply(first, two))
    line.open(DOCX)
    row = Apply(DOCX.state, ((one,), (two,)))

    answer = line.ask(row)
    rest = row.rest_after(answer)

    assert answer == first
    assert rest == Apply(None, ((two,),))
    assert rest is not None
    assert line.hear(rest).answer == second
    assert rest.rest_after(second) is None


def test_a_row_ends_with_the_first_that_is_refused(line: Line) -> None:
    line.open(DOCX)
    row = Apply(DOCX.state, ((WRONG,), (EDITS[0],)))

    answer = line.ask(row)

    assert isinstance(answer, Invalid)
    assert row.rest_after(answer) is None
    assert line.text(DOCX) is not None


def plain(answer: A | Refused | Broke) -> A | Refused:
    """Return the answer, which must be one that somebody has thought of."""
    assert not isinstance(answer, Broke), answer
    return answer
