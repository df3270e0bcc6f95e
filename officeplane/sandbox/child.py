"""A sandboxed child: opens documents, edits them and tells what is in them, one request at a time.

It has no environment, no descriptor but its socket, and limits on all it uses.
It is asked about one document, which stays parsed between requests, so that the
next edit of the lane finds it open.
"""

import socket
import traceback
from typing import Final, assert_never

from officeplane.domain.document import Policy, UnsupportedDocumentError
from officeplane.domain.errors import NodeNotFoundError, TooLargeToShowError
from officeplane.domain.failure import describe
from officeplane.formats.blank import blank
from officeplane.formats.gate import admit
from officeplane.formats.package import part_cuts
from officeplane.formats.properties import title_in
from officeplane.frames import receive, send
from officeplane.sandbox import resource_limits
from officeplane.sandbox.answers import Admitted, Answer, Blank, Broke, Missing, NoNode, TooLarge, Unsupported
from officeplane.sandbox.editing import CANNOT_WORK, apply, changed, preview, refusal
from officeplane.sandbox.matching import matched
from officeplane.sandbox.merging import merged
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
    Opening,
    Preview,
    ReadCells,
    ReadNode,
    ReadNodes,
    ReadOutline,
    ReadPicture,
    ReadText,
    ReadTextPart,
    Represent,
    TellKept,
)  # fmt: skip
from officeplane.sandbox.protocol import decode_request, encode_answer
from officeplane.sandbox.reading import (
    cells,
    compared,
    compared_part,
    found,
    kept,
    listed,
    node,
    nodes,
    outline,
    picture,
    represented,
    text,
    text_part,
)
from officeplane.sandbox.shelf import NotHereError, Shelf

TOO_COMPLEX: Final = "too_complex"


def serve(connection: socket.socket, policy: Policy = Policy.STRICT) -> None:
    """Answer requests until the other end is gone, or until a fresh process would do better."""
    shelf = Shelf(policy)
    may_go_on = True
    try:
        while may_go_on:
            resource_limits.allow_more_time()
            operation, opens, file = decode_request(receive(connection))
            may_go_on = _answered(connection, shelf, operation, opens, file)
    except ConnectionError:
        return


def _answered(
    connection: socket.socket, shelf: Shelf, operation: AnyOperation, opens: Opening | None, file: bytes
) -> bool:
    """Answer a request, and tell whether this process may take another one."""
    while True:
        answer, is_sound = _answer(shelf, operation, opens, file)
        rest = operation.rest_after(answer)
        # After an error that nobody expected, what is in memory is not to be trusted.
        recycle = rest is None and (not is_sound or resource_limits.is_worn())
        send(connection, *encode_answer(answer, recycle=recycle))
        if rest is None:
            return not recycle
        operation, opens = rest, None
        resource_limits.allow_more_time()


def _answer(shelf: Shelf, operation: AnyOperation, opens: Opening | None, file: bytes) -> tuple[Answer, bool]:
    """Return the answer, and whether this process is as sound as before."""
    try:
        if opens is not None:
            shelf.open(opens, file)
        return _carried_out(shelf, operation, file), True
    except NotHereError as missing:
        return Missing(missing.state), True
    except CANNOT_WORK as error:
        return refusal(error), True
    except TooLargeToShowError:
        return TooLarge(), True
    except NodeNotFoundError as error:
        return NoNode(error.node_id, error.nearest), True
    except UnsupportedDocumentError as error:
        return Unsupported(error.reason, str(error)), True
    except (MemoryError, RecursionError):
        return Unsupported(TOO_COMPLEX, "the document needs more memory than is allowed"), False
    except Exception as error:  # noqa: BLE001 - the other end logs it
        return Broke(describe(error), traceback.format_exc(limit=-8)), False


def _carried_out(shelf: Shelf, operation: AnyOperation, file: bytes) -> Answer:
    match operation:
        case Check():
            return Admitted(admit(file, shelf.policy), part_cuts(file), title_in(file))
        case MakeBlank(format, title):
            return Blank([blank(format, title)])
        case ReadOutline(state):
            return outline(shelf, state)
        case ReadText(state):
            return text(shelf, state)
        case ReadNodes(state, wanted):
            return nodes(shelf, state, wanted)
        case ReadNode(state, wanted):
            return node(shelf, state, wanted)
        case FindText(state, wanted):
            return found(shelf, state, wanted)
        case ReadTextPart(state, wanted):
            return text_part(shelf, state, wanted)
        case ListNodes(state, wanted):
            return listed(shelf, state, wanted)
        case ReadPicture(state, node_id):
            return picture(shelf, state, node_id)
        case TellKept(state):
            return kept(shelf, state)
        case Represent(state, wanted):
            return represented(shelf, state, wanted)
        case ReadCells(state, wanted):
            return cells(shelf, state, wanted)
        case ComparePart(before, after, wanted):
            return compared_part(shelf, before, after, wanted)
        case Compare(before, after):
            return compared(shelf, before, after)
        case Match(head, upload, seed, head_is_named):
            return matched(shelf, head, upload, seed, head_is_named=head_is_named)
        case Merge():
            return merged(shelf, operation)
        case FindChanged(base, head, orders):
            return changed(shelf, base, head, orders)
        case Preview(state, orders):
            return preview(shelf, state, orders)
        case Apply(state, revisions):
            return apply(shelf, shelf.newest if state is None else state, revisions[0])
        case _:
            assert_never(operation)
