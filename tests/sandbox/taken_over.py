"""A nursery whose children obey whoever wrote the document: what an edit says that they have open is done.

It stands for a defect of a parser that lets a file's author run code. Run as the nursery is, with a descriptor.
"""

import os
import struct
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from officeplane.domain.revision import PieceRef, Recipe, piece_key
from officeplane.frames import Body
from officeplane.sandbox import child, nursery
from officeplane.sandbox.child import Answer
from officeplane.sandbox.shelf import Opened, Shelf

FORGED = "999 EUR"
_honest_apply = child._DEEDS["apply"]  # pyright: ignore[reportPrivateUsage]
_honest_put = Shelf.put


def _apply(shelf: Shelf, body: Body, attached: Sequence[bytes]) -> Answer:
    """Do as the edit says, if it speaks to the attacker's code."""
    for order in body["edits"]:
        for word, deed in _ORDERS.items():
            if word in order["payload"]:
                return deed(shelf, body, attached)
    return _honest_apply(shelf, body, attached)


def _forge_all(shelf: Shelf, body: Body, attached: Sequence[bytes]) -> Answer:
    """Change whatever is open now or later, which later edits then write as if it had been so."""

    def put(shelf: Shelf, recipe: str, opened: Opened) -> None:
        _forge(opened)
        _honest_put(shelf, recipe, opened)

    answer = _honest_apply(shelf, body, attached)
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


def _sleep(_shelf: Shelf, _body: Body, _attached: Sequence[bytes]) -> Answer:
    time.sleep(3_600)
    return Answer({})


def _name_what_is_not_there(shelf: Shelf, body: Body, attached: Sequence[bytes]) -> Answer:
    """Tell of a revision that is made of another document's piece."""
    answer = _honest_apply(shelf, body, attached)
    foreign = PieceRef(piece_key(b"of another document"), 4_096)
    return Answer(answer.body, [Recipe((foreign,)).encode()])


def _name_a_piece_as_smaller(shelf: Shelf, body: Body, attached: Sequence[bytes]) -> Answer:
    """Tell of a revision that is said to have far fewer bytes than it is put together of."""
    answer = _honest_apply(shelf, body, attached)
    piece = os.urandom(4_096)
    key = piece_key(piece)
    return Answer(answer.body, [Recipe((*[PieceRef(key, 1)] * 100, PieceRef(key, len(piece)))).encode(), piece])


def _keep_a_byte(shelf: Shelf, body: Body, attached: Sequence[bytes]) -> Answer:
    """Tell of a revision whose recipe ends in the middle."""
    answer = _honest_apply(shelf, body, attached)
    recipe, *pieces = answer.attached
    return Answer(answer.body, [recipe[:-1], *pieces])


def _say(what: bytes) -> Callable[[Shelf, Body, Sequence[bytes]], Answer]:
    def deed(shelf: Shelf, body: Body, attached: Sequence[bytes]) -> Answer:
        answer = _honest_apply(shelf, body, attached)

        def send(connection: Any, _body: Body, _attached: Iterable[bytes] = ()) -> None:
            connection.sendall(what)

        setattr(child, "send", send)  # noqa: B010 - a function is taken over on purpose
        return answer

    return deed


def _framed(text: bytes, *sizes: int) -> bytes:
    return struct.pack(f">II{len(sizes)}Q", len(text), len(sizes), *sizes) + text


_ORDERS: Mapping[str, Callable[[Shelf, Body, Sequence[bytes]], Answer]] = {
    "forge all": _forge_all,
    "sleep": _sleep,
    "name what is not there": _name_what_is_not_there,
    "name a piece as smaller": _name_a_piece_as_smaller,
    "keep a byte": _keep_a_byte,
    "say that more comes than there is": _say(_framed(b'{"tired": false, "results": []}', 10**15)),
    "say that a long message comes": _say(struct.pack(">II", 2**32 - 1, 0)),
    "say that countless pieces come": _say(struct.pack(">II", 2, 2**32 - 1)),
    "say no object": _say(_framed(b"[]")),
    "say no json": _say(_framed(b"\xff{")),
    "say what nests": _say(_framed(b'{"tired": ' + b"[" * 100_000 + b"}")),
    "say nothing of being tired": _say(_framed(b'{"tired": []}')),
    "say what nobody knows": _say(_framed(b'{"tired": false, "obey": true}')),
    "say that others are missing": _say(_framed(b'{"tired": false, "missing": "another"}')),
    "say no number": _say(_framed(b'{"tired": false, "results": [{"x": NaN}]}')),
    "say two results": _say(_framed(b'{"tired": false, "results": [{}, {}]}')),
    "say a result alone": _say(_framed(b'{"tired": false, "results": [{}]}')),
}

if __name__ == "__main__":
    setattr(child, "_DEEDS", {**child._DEEDS, "apply": _apply})  # noqa: B010  # pyright: ignore[reportPrivateUsage]
    os.environ.clear()
    nursery.main(int(sys.argv[1]))
