"""A child: documents stay open, edits are all or none, and whoever asks too much hears so."""

import json
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from officeplane.frames import Body, Frame, receive, send
from officeplane.sandbox.child import serve
from officeplane.sandbox.shelf import STATES_MAX
from tests.sandbox.asking import AFile, an_order, apply, edited, name_of, said, text

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
    """The other end of a child that runs in a thread of this process, without its limits."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def ask(self, body: Body, *attached: bytes) -> Frame:
        send(self._connection, body, attached)
        return receive(self._connection)

    def open(self, file: AFile) -> None:
        body, attached = file.opened_for(text(file.name))
        said(self.ask(body, *attached))

    def text(self, name: str) -> str:
        return said(self.ask(text(name)))


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    monkeypatch.setattr("officeplane.sandbox.limits.allow_more_time", lambda: None)
    monkeypatch.setattr("officeplane.sandbox.limits.is_too_big", lambda: False)
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=serve, args=(theirs,))
    thread.start()
    yield Line(ours)
    ours.close()
    thread.join()
    theirs.close()


@pytest.mark.parametrize(("file", "order", "second"), list(zip(BLANKS, EDITS, NEXT, strict=True)))
def test_a_warm_document_becomes_what_a_cold_one_becomes(
    line: Line, file: AFile, order: dict[str, Any], second: dict[str, Any]
) -> None:
    line.open(file)
    first = line.ask(apply(file, order))
    between = AFile(edited(first, file), file.introduction["format"])
    warm = line.ask(apply(first, second))

    assert line.ask(text(between.name)).body["missing"] == between.name
    line.open(between)
    cold = line.ask(apply(between, second))

    assert edited(warm, file, first) == edited(cold, between)


@pytest.mark.parametrize(("file", "order"), CASES)
def test_a_failing_edit_leaves_the_document_as_it_was(line: Line, file: AFile, order: dict[str, Any]) -> None:
    line.open(file)
    before = line.text(file.name)
    cold = line.ask(apply(file, order))
    line.open(file)

    refused = line.ask(apply(file, order, WRONG))

    assert "invalid" in refused.body
    assert refused.body["index"] == 1
    assert line.text(file.name) == before
    assert line.ask(apply(file, order)) == cold


@pytest.mark.parametrize(("file", "order"), CASES)
def test_a_preview_tells_and_changes_nothing(line: Line, file: AFile, order: dict[str, Any]) -> None:
    line.open(file)
    before = line.text(file.name)

    seen = line.ask(apply(file, order, difference=True))

    assert any(seen.body["difference"]["nodes"].values()) or seen.body["difference"]["text"]
    assert seen.attached == []
    assert line.text(file.name) == before
    after = line.ask(apply(file, order))
    # In a Word document ids are given by the task; elsewhere they are the file's own numbers.
    assert seen.body["results"] == ([{}] if file is DOCX else after.body["results"])
    line.open(file)
    assert line.ask(apply(file, order)) == after


def test_several_edits_are_applied_in_order_as_one_file(line: Line) -> None:
    line.open(DOCX)

    answer = line.ask(
        apply(DOCX, an_order("add_chapter", "t/0", title="One"), an_order("add_chapter", "t/1", title="Two"))
    )

    one, two = answer.body["results"]
    assert one["id"] != two["id"]
    whole = line.text(name_of(answer))
    assert whole.index("One") < whole.index("Two")


def test_only_pieces_that_the_ledger_has_not_are_sent_along(line: Line) -> None:
    line.open(DOCX)
    first = line.ask(apply(DOCX, an_order("add_chapter", "1", title="One")))
    second = line.ask(apply(first, an_order("set_properties", "2", title="Another")))

    assert not set(first.attached[1:]) & set(second.attached[1:])


@pytest.mark.parametrize(
    "order",
    [
        an_order("edit_page", pageId="no-such", content="x"),
        an_order("set_cells", sheet="Sheet1", cells={"A1": 1}),
        an_order("add_chapter", title=""),
        an_order("add_chapter", tittle="x"),
    ],
    ids=["no such target", "other format", "too short", "unknown field"],
)
def test_an_edit_that_cannot_work_is_told_as_invalid(line: Line, order: dict[str, Any]) -> None:
    line.open(DOCX)

    answer = line.ask(apply(DOCX, order))

    assert answer.body["invalid"]
    assert not answer.body["tired"]


def test_the_gate_stands_before_everything(line: Line) -> None:
    assert line.ask({"deed": "check"}, b"no zip at all").body["unsupported"][0]
    assert line.ask({"deed": "check"}, DOCX.data).body["format"] == "docx"


def test_documents_that_were_not_used_for_long_are_forgotten(line: Line) -> None:
    files = [AFile(blank(Format.XLSX, f"number {n}"), Format.XLSX) for n in range(STATES_MAX + 1)]
    for file in files:
        line.open(file)

    assert "missing" in line.ask(text(files[0].name)).body
    assert line.text(files[-1].name)


def test_two_revisions_are_compared_and_the_one_that_is_not_there_is_asked_for(line: Line) -> None:
    line.open(DOCX)
    changed = line.ask(apply(DOCX, EDITS[0]))
    request: Body = {"deed": "difference", "between": [DOCX.name, name_of(changed)]}

    assert line.ask(request).body["missing"] == DOCX.name
    line.open(DOCX)

    (added,) = line.ask(request).body["difference"]["nodes"]["added"]
    assert added["text"] == "One"


def test_a_fingerprint_tells_whether_what_an_edit_aims_at_was_changed(line: Line) -> None:
    line.open(DOCX)
    answer = line.ask(apply(DOCX, an_order("write_page", "1", content="A page.")))
    page = answer.body["results"][0]["id"]
    base = AFile(edited(answer, DOCX))
    line.open(base)
    head = AFile(edited(line.ask(apply(base, an_order("edit_page", "2", pageId=page, content="Other."))), base))
    line.open(base)
    line.open(head)
    mine = an_order("edit_page", "3", pageId=page, content="Mine.")
    asked: Body = {"deed": "fingerprints", "edits": [mine]}

    assert line.ask({**asked, "between": [base.name, head.name]}).body["changed"] == [page]
    assert line.ask({**asked, "between": [head.name, head.name]}).body["changed"] == []


CONFINED = """
    import socket, sys
    from officeplane.sandbox import child, confinement, limits

    def burn(*_):
        while True: pass

    def grow(*_):
        return child.Answer({"size": len(bytearray(limits.MEMORY_BYTES))})

    def write(*_):
        open("/tmp/officeplane-must-not-be", "w").write("x" * 100000)
        return child.Answer({})

    child._DEEDS = {**child._DEEDS, "burn": burn, "grow": grow, "write": write}
    if sys.argv[2] == "burn":
        # Of which the start has used up a part that differs: the others could be left without any.
        limits.CPU_SECONDS = 1
    connection = socket.socket(fileno=int(sys.argv[1]))
    confinement.confine()
    child.serve(connection)
"""


def confined(deed: str) -> tuple[int, Body | None]:
    """Return how a confined child ended that was asked for a deed beyond its bounds, and what it said."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        program = textwrap.dedent(CONFINED)
        command = [sys.executable, "-I", "-c", program, str(theirs.fileno()), deed]
        process = subprocess.Popen(command, pass_fds=(theirs.fileno(),), env={}, stderr=subprocess.DEVNULL)
        theirs.close()
        ours.settimeout(30)
        said: Body | None = None
        try:
            send(ours, {"deed": deed})
            said = receive(ours).body
        except ConnectionError:
            pass
        finally:
            ours.close()
            status = process.wait(timeout=30)
    return status, said


def test_more_time_than_allowed_ends_the_child() -> None:
    assert confined("burn") == (-signal.SIGXCPU, None)


def test_more_memory_than_allowed_is_told_as_too_complex_and_the_child_is_used_up() -> None:
    status, said = confined("grow")

    assert said is not None
    assert said["unsupported"] == ["too_complex", "the document needs more memory than is allowed"]
    assert said["tired"]
    assert status == 0


def test_a_child_writes_no_files() -> None:
    status, said = confined("write")

    assert said is None or "error" in said
    assert status in (0, -signal.SIGXFSZ)


def test_an_order_is_json_that_a_child_reads_strictly(line: Line) -> None:
    line.open(DOCX)
    order = {**EDITS[0], "payload": json.dumps({"title": "One", "position": "1"})}

    assert "position" in line.ask(apply(DOCX, order)).body["invalid"]


def test_a_file_that_is_kept_in_other_pieces_than_it_is_open_in_is_asked_for(line: Line) -> None:
    line.open(DOCX)
    elsewhere = {**apply(DOCX, EDITS[0]), "recipe": "of the same bytes"}

    assert line.ask(elsewhere).body["missing"] == "of the same bytes"
    assert "results" in line.ask(apply(DOCX, EDITS[0])).body
