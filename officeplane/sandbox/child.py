"""A sandboxed child: opens documents, edits them and tells what is in them, one request at a time.

It has no environment, no descriptor but its socket, and bounds on all it uses.
It is asked about one document, which stays parsed between requests, so that the
next edit of the lane finds it open. One that an edit failed in is rolled back to
what it was.
"""

import hashlib
import json
import socket
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

from pydantic import JsonValue, ValidationError

from officeplane.domain.document import Format, InvalidEditError, Node, UnsupportedDocumentError
from officeplane.domain.encoding import size_of
from officeplane.domain.errors import TooLargeToShowError
from officeplane.domain.failure import describe
from officeplane.domain.misfit import dotted, field_errors, meant, message_of
from officeplane.domain.outcome import RESULT_BYTES_MAX
from officeplane.domain.reference import REF_TEXT, MissingResultError, PayloadTooLargeError, Resolution
from officeplane.domain.revision import PieceKey
from officeplane.edits.catalogue import all_edits
from officeplane.edits.contract import Edit, Occasion
from officeplane.edits.set_properties import SetProperties
from officeplane.formats.blank import blank
from officeplane.formats.diff import difference
from officeplane.formats.gate import admit, check_parts
from officeplane.formats.opening import Document, fingerprint
from officeplane.formats.package import part_cuts
from officeplane.formats.properties import title_in, title_of
from officeplane.formats.shown import Measure
from officeplane.frames import Body, receive, send
from officeplane.sandbox import limits
from officeplane.sandbox.shelf import Opened, Shelf

CANNOT_WORK: Final = (InvalidEditError, MissingResultError, PayloadTooLargeError)
TOO_COMPLEX: Final = "too_complex"


class Answer(NamedTuple):
    """What a request is answered with."""

    body: Body
    attached: Sequence[bytes] = ()


class _NotHereError(Exception):
    """The document must be sent first."""

    def __init__(self, recipe: str) -> None:
        super().__init__(recipe)
        self.recipe = recipe


def serve(connection: socket.socket) -> None:
    """Answer requests until the other end is gone, or until a fresh process would do better."""
    shelf = Shelf()
    while True:
        limits.allow_more_time()
        try:
            request = receive(connection)
            answer = _answer(shelf, request.body, request.attached)
            for edits in request.body.get("then", ()):
                if "results" not in answer.body:
                    break
                send(connection, {**answer.body, "more": True}, answer.attached)
                limits.allow_more_time()
                answer = _answer(shelf, _going_on(request.body, answer, edits), [])
            # After a surprise, what is in memory is not to be trusted.
            answer.body["tired"] = "broke" in answer.body or limits.is_too_big()
            send(connection, *answer)
        except ConnectionError:
            return
        if answer.body["tired"]:
            return


def _going_on(body: Body, answer: Answer, edits: JsonValue) -> Body:
    """Return the request for edits of what the last ones have made."""
    recipe, *_ = answer.attached
    return {
        "deed": body["deed"],
        "difference": False,
        "recipe": hashlib.sha256(recipe).hexdigest(),
        "edits": edits,
    }


def _answer(shelf: Shelf, body: Body, attached: Sequence[bytes]) -> Answer:
    try:
        if "opens" in body:
            _open(shelf, body["opens"], attached[0])
        return _DEEDS[body["deed"]](shelf, body, attached)
    except _NotHereError as missing:
        return Answer({"missing": missing.recipe})
    except CANNOT_WORK as error:
        return Answer(_told(error))
    except TooLargeToShowError:
        return Answer({"too_large": True})
    except UnsupportedDocumentError as error:
        return Answer({"unsupported": [error.reason, str(error)]})
    except (MemoryError, RecursionError):
        return Answer({"unsupported": [TOO_COMPLEX, "the document needs more memory than is allowed"], "broke": True})
    except Exception as error:  # noqa: BLE001 - the other end logs it
        return Answer({"broke": traceback.format_exc(limit=-8), "error": describe(error)})


def _told(error: Exception) -> Body:
    facts = dict(error.facts) if isinstance(error, InvalidEditError) else {}
    where = "a reference leads nowhere: " if isinstance(error, MissingResultError) else ""
    return {"invalid": f"{where}{error}", "facts": facts}


def _open(shelf: Shelf, sent: Body, data: bytes) -> None:
    kept = {PieceKey(bytes.fromhex(key)) for key in sent["kept"]}
    shelf.open(sent["recipe"], Format(sent["format"]), data, sent["cuts"], kept)


def _find(shelf: Shelf, recipe: str) -> Opened:
    found = shelf.find(recipe)
    if found is None:
        raise _NotHereError(recipe)
    return found


def _check(_shelf: Shelf, _body: Body, attached: Sequence[bytes]) -> Answer:
    (data,) = attached
    return Answer({"format": admit(data), "cuts": part_cuts(data), "title": title_in(data)})


def _blank(_shelf: Shelf, body: Body, _attached: Sequence[bytes]) -> Answer:
    return Answer({}, [blank(Format(body["format"]), body["title"])])


def _outline(shelf: Shelf, body: Body, _attached: Sequence[bytes]) -> Answer:
    nodes = _find(shelf, body["recipe"]).document.outline()
    Measure().nodes(nodes)
    return Answer({"nodes": [node.as_json() for node in nodes]})


def _text(shelf: Shelf, body: Body, _attached: Sequence[bytes]) -> Answer:
    said = Measure().passed(_find(shelf, body["recipe"]).document.text())
    return Answer({}, [said.encode("utf-8", "surrogatepass")])


def _difference(shelf: Shelf, body: Body, _attached: Sequence[bytes]) -> Answer:
    before, after = (_Shown(_find(shelf, recipe).document) for recipe in body["between"])
    return Answer({"difference": difference(before, after)})


def _fingerprints(shelf: Shelf, body: Body, _attached: Sequence[bytes]) -> Answer:
    """Tell which nodes edits aim at, as of one revision, and what they look like in it and in another."""
    base, head = (_find(shelf, recipe) for recipe in body["between"])
    if any(REF_TEXT in order["payload"] for order in body["edits"]):
        shelf.drop(body["between"][1])
        targets = _targets_in_turn(body["edits"], base, head)
        shelf.put(body["between"][1], head)
    else:
        targets = {target for order in body["edits"] for target in _targets(_edit(order, {}), base, head)}
    changed = [it for it in sorted(targets) if fingerprint(base.document, it) != fingerprint(head.document, it)]
    return Answer({"changed": changed})


def _targets_in_turn(orders: Sequence[Mapping[str, Any]], base: Opened, head: Opened) -> set[str]:
    """Return what edits aim at of which later ones use results: they are tried on the head, and taken back."""
    targets: set[str] = set()
    results: dict[str, JsonValue] = {}
    try:
        for order in orders:
            edit = _edit(order, results)
            targets |= _targets(edit, base, head)
            results[order["key"] or ""] = edit.apply(head.document, _occasion(order))
    except CANNOT_WORK:
        # What cannot work is told by the attempt; here it is only asked what others have changed.
        pass
    finally:
        head.document.package.rollback()
    return targets


def _targets(edit: Edit, *opened: Opened) -> set[str]:
    return {target for one in opened for target in edit.targets(one.document)}


def _apply(shelf: Shelf, body: Body, _attached: Sequence[bytes]) -> Answer:
    """Apply edits in order, all or none, and keep the document as what it has become."""
    recipe: str = body["recipe"]
    opened = _find(shelf, recipe)
    document = opened.document
    before = _Shown(document) if body["difference"] else None
    # Whatever happens, nobody must find it under its old name half-edited.
    shelf.drop(recipe)
    results: list[JsonValue] = []
    by_key: dict[str, JsonValue] = {}
    given: list[str] = []
    try:
        for index, order in enumerate(body["edits"]):
            try:
                occasion = _occasion(order)
                result = _edit(order, by_key).apply(document, occasion)
                given += occasion.given
                _refuse_large(result)
                results.append(result)
                by_key[order["key"] or ""] = result
            except CANNOT_WORK as error:
                document.package.rollback()
                shelf.put(recipe, opened)
                return Answer({**_told(error), "index": index})
        if before is not None:
            told = difference(before, _Shown(document))
            document.package.rollback()
            shelf.put(recipe, opened)
            # The real edit gives other ids to what it makes.
            return Answer(_without({"results": results, "difference": told}, frozenset(given)))
        written = document.package.write()
        # What an edit wrote is not trusted more than what somebody uploads.
        check_parts(document.package, document.package.renewed)
    except Exception:
        shelf.drop(recipe)
        raise
    new = {key: piece for key, piece in written.pieces.items() if key not in opened.kept}
    opened.kept = set(written.pieces)
    opened.size = written.size
    encoded = written.recipe.encode()
    shelf.put(hashlib.sha256(encoded).hexdigest(), opened)
    # What the file hashes to is computed by whoever keeps it.
    answer: Body = {"results": results}
    if any(order["taskType"] == SetProperties.task_type for order in body["edits"]):
        answer["title"] = title_of(document.package)
    return Answer(answer, [encoded, *new.values()])


def _without(value: Any, ids: frozenset[str]) -> Any:
    """Return a value without the fields that hold one of these ids."""
    match value:
        case dict():
            fields = cast("dict[str, Any]", value).items()
            return {name: _without(held, ids) for name, held in fields if not (isinstance(held, str) and held in ids)}
        case list():
            return [_without(held, ids) for held in cast("Sequence[Any]", value)]
        case _:
            return value


class _Shown:
    """What of a document is compared, also after it was edited."""

    def __init__(self, document: Document) -> None:
        compared = document.comparable()
        self._outline = compared.outline()
        Measure().nodes(self._outline)
        self._text = Measure().passed(compared.text())

    def outline(self) -> list[Node]:
        return self._outline

    def text(self) -> str:
        return self._text


def _edit(order: Mapping[str, Any], results: Mapping[str, JsonValue]) -> Edit:
    edit, payload_json = all_edits()[order["taskType"]], order["payload"]
    if REF_TEXT in payload_json:
        resolution = Resolution(json.loads(payload_json))
        resolution.take(resolution.keys, results)
        payload_json = json.dumps(resolution.resolved())
    try:
        return edit.model_validate_json(payload_json)
    except ValidationError as error:
        wrong = meant(json.loads(payload_json), error.errors(include_url=False))
        first = field_errors((dotted(path), message_of(found)) for path, found in wrong)[0]
        message = f"{first.field}: {first.message}" if first.field else first.message
        raise InvalidEditError(message) from None


def _refuse_large(result: JsonValue) -> None:
    """Refuse what would fill the memory of whoever hears of it, and of each who refers to it."""
    size = size_of(result)
    if size > RESULT_BYTES_MAX:
        raise InvalidEditError(f"its result has {size} bytes; {RESULT_BYTES_MAX} are allowed")


def _occasion(order: Mapping[str, Any]) -> Occasion:
    return Occasion(order["taskId"], order["author"], datetime.fromisoformat(order["at"]))


_DEEDS: Final[Mapping[str, Callable[[Shelf, Body, Sequence[bytes]], Answer]]] = {
    "check": _check,
    "blank": _blank,
    "outline": _outline,
    "text": _text,
    "difference": _difference,
    "fingerprints": _fingerprints,
    "apply": _apply,
}
