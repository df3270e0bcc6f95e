"""A nursery whose children obey whoever wrote the document: what an edit says that they have open is done.

It stands for a defect of a parser that lets a file's author run code. Run as the nursery is, with a descriptor.
"""

import ctypes
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from officeplane.domain.revision import PieceRef, Recipe, piece_key
from officeplane.frames import Body
from officeplane.sandbox import child, editing, nursery
from officeplane.sandbox.answers import Applied, Invalid
from officeplane.sandbox.operations import Orders
from officeplane.sandbox.shelf import Opened, Shelf

FORGED = "999 EUR"
Work = Callable[[Shelf, str, Orders], Applied | Invalid]
_honest_apply = editing.apply
_honest_put = Shelf.put


def _apply(shelf: Shelf, state: str, orders: Orders) -> Applied | Invalid:
    """Do as the edit says, if it speaks to the attacker's code."""
    for order in orders:
        for word, work in _WORKS.items():
            if word in order.payload_json:
                return work(shelf, state, orders)
    return _honest_apply(shelf, state, orders)


def _applied(shelf: Shelf, state: str, orders: Orders) -> Applied:
    answer = _honest_apply(shelf, state, orders)
    assert isinstance(answer, Applied)
    return answer


def _forge_all(shelf: Shelf, state: str, orders: Orders) -> Applied | Invalid:
    """Change whatever is open now or later, which later edits then write as if it had been so."""

    def put(shelf: Shelf, recipe: str, opened: Opened) -> None:
        _forge(opened)
        _honest_put(shelf, recipe, opened)

    answer = _honest_apply(shelf, state, orders)
    for opened in shelf._opened.values():  # pyright: ignore[reportPrivateUsage]
        _forge(opened)
    setattr(Shelf, "put", put)  # noqa: B010 - a method is taken over on purpose
    return answer


def _forge(opened: Opened) -> None:
    package = opened.document.package
    tree = package.tree("word/document.xml")
    for text in tree.iter("{*}t"):
        text.text = (text.text or "").replace("100 EUR", FORGED)
    package.changed("word/document.xml")


def _compute(seconds_max: int, *, heeds_the_end: bool) -> Work:
    """Compute for ever, after making the time shorter that the kernel allows, for nobody is to wait for it."""

    def work(_shelf: Shelf, _state: str, _orders: Orders) -> Applied:
        if not heeds_the_end:
            signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime) + 1
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, min(hard, soft + seconds_max)))
        # In machine code, to which Python's own handlers of signals do not get.
        return Applied([], None, [b"%d" % sum(range(10**15))])

    return work


def _fall(_shelf: Shelf, _state: str, _orders: Orders) -> Applied:
    """Read where there is no memory."""
    return Applied([], None, [ctypes.string_at(0)])


def _grow_afterwards(shelf: Shelf, state: str, orders: Orders) -> Applied | Invalid:
    """Answer as an honest child would, and take memory that nobody asks for at a signal."""
    # Not at once: its owner might look how large it is only when it has grown already.
    signal.signal(signal.SIGUSR1, lambda _number, _frame: _TAKEN.append(b"x" * (64 * 1024 * 1024)))
    return _applied(shelf, state, orders)


_TAKEN: list[bytes] = []


def _sleep(_shelf: Shelf, _state: str, _orders: Orders) -> Applied:
    time.sleep(3_600)
    return Applied([], None, [b""])


def _name_what_is_not_there(shelf: Shelf, state: str, orders: Orders) -> Applied | Invalid:
    """Tell of a revision that is made of another document's piece."""
    answer = _applied(shelf, state, orders)
    foreign = PieceRef(piece_key(b"of another document"), 4_096)
    return replace(answer, attached=[Recipe((foreign,)).encode()])


def _name_a_piece_as_smaller(shelf: Shelf, state: str, orders: Orders) -> Applied | Invalid:
    """Tell of a revision that is said to have far fewer bytes than it is put together of."""
    answer = _applied(shelf, state, orders)
    piece = os.urandom(4_096)
    key = piece_key(piece)
    recipe = Recipe((*[PieceRef(key, 1)] * 100, PieceRef(key, len(piece))))
    return replace(answer, attached=[recipe.encode(), piece])


def _keep_a_byte(shelf: Shelf, state: str, orders: Orders) -> Applied | Invalid:
    """Tell of a revision whose recipe ends in the middle."""
    answer = _applied(shelf, state, orders)
    return replace(answer, attached=[answer.recipe[:-1], *answer.pieces])


def _say(what: bytes) -> Work:
    def work(shelf: Shelf, state: str, orders: Orders) -> Applied | Invalid:
        answer = _applied(shelf, state, orders)

        def send(connection: Any, _body: Body, _attached: Iterable[bytes] = ()) -> None:
            connection.sendall(what)

        setattr(child, "send", send)  # noqa: B010 - a function is taken over on purpose
        return answer

    return work


def _framed(text: bytes, *sizes: int) -> bytes:
    return struct.pack(f">II{len(sizes)}Q", len(text), len(sizes), *sizes) + text


def _said(
    answer: bytes = b'"Applied"', told: bytes = b'{"results": [{}], "title": null}', recycle: bytes = b"false"
) -> bytes:
    return b'{"answer": %s, "with": %s, "recycle": %s}' % (answer, told, recycle)


_WORKS: Mapping[str, Work] = {
    "forge all": _forge_all,
    "sleep": _sleep,
    "grow afterwards": _grow_afterwards,
    "compute for ever": _compute(600, heeds_the_end=True),
    "compute past its end": _compute(1, heeds_the_end=False),
    "fall": _fall,
    "name what is not there": _name_what_is_not_there,
    "name a piece as smaller": _name_a_piece_as_smaller,
    "keep a byte": _keep_a_byte,
    "say that more comes than there is": _say(_framed(_said(), 10**15)),
    "say that a long message comes": _say(struct.pack(">II", 2**32 - 1, 0)),
    "say that countless pieces come": _say(struct.pack(">II", 2, 2**32 - 1)),
    "say no object": _say(_framed(b"[]")),
    "say no json": _say(_framed(b"\xff{")),
    "say what nests": _say(_framed(_said(told=b'{"results": ' + b"[" * 100_000))),
    "say nothing of going on": _say(_framed(_said(recycle=b"[]"))),
    "say what nobody knows": _say(_framed(_said(told=b'{"results": [{}], "title": null, "obey": true}'))),
    "say what answers something else": _say(_framed(_said(b'"Changed"', b'{"node_ids": []}'))),
    "say that others are missing": _say(_framed(_said(b'"Missing"', b'{"state": "another"}'))),
    "say no number": _say(_framed(_said(told=b'{"results": [{"x": NaN}], "title": null}'), 1) + b"x"),
    "say two results": _say(_framed(_said(told=b'{"results": [{}, {}], "title": null}'), 1) + b"x"),
    "say a result alone": _say(_framed(_said())),
}

if __name__ == "__main__":
    setattr(child, "apply", _apply)  # noqa: B010
    os.environ.clear()
    nursery.main(int(sys.argv[1]))
