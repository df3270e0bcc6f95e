"""Editing: what a child does with edits: of those that come together all are made, or none.

When an edit fails, its document is rolled back to what it was.
"""

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, cast

from pydantic import JsonValue, ValidationError

from officeplane.domain.document import InvalidEditError
from officeplane.domain.encoding import size_of
from officeplane.domain.outcome import RESULT_BYTES_MAX
from officeplane.domain.reference import REF_TEXT, MissingResultError, PayloadTooLargeError, Resolution
from officeplane.domain.validation_errors import dotted, field_errors, message_of, relevant
from officeplane.edits.all_edits import all_edits
from officeplane.edits.contract import Edit, Occasion
from officeplane.edits.set_properties import SetProperties
from officeplane.formats.diff import difference
from officeplane.formats.gate import check_parts
from officeplane.formats.opening import Document, fingerprint
from officeplane.formats.properties import title_of
from officeplane.sandbox.answers import Applied, Changed, Invalid, Previewed
from officeplane.sandbox.operations import Order, Orders
from officeplane.sandbox.reading import Shown
from officeplane.sandbox.shelf import Opened, Shelf

CANNOT_WORK: Final = (InvalidEditError, MissingResultError, PayloadTooLargeError)


class _Done(NamedTuple):
    """What edits have returned, and the ids that they have given to what they made."""

    results: list[dict[str, Any]]
    given: frozenset[str]


def refusal(error: Exception, index: int | None = None) -> Invalid:
    """Return what is told of an edit that cannot work."""
    facts = dict(error.facts) if isinstance(error, InvalidEditError) else {}
    where = "a reference leads nowhere: " if isinstance(error, MissingResultError) else ""
    return Invalid(f"{where}{error}", facts, index)


def apply(shelf: Shelf, state: str, orders: Orders) -> Applied | Invalid:
    """Apply edits in order, all or none, and keep the document as what it has become."""
    opened = shelf.take(state)
    document = opened.document
    done = _edited(document, orders)
    if isinstance(done, Invalid):
        document.package.rollback()
        shelf.put(state, opened)
        return done
    attached = write(shelf, opened)
    is_titled = any(order.task_type == SetProperties.task_type for order in orders)
    # The owner computes what the file hashes to: a child's word does not count for that.
    return Applied(done.results, title_of(document.package) if is_titled else None, attached)


def write(shelf: Shelf, opened: Opened) -> list[bytes]:
    """Keep a document as what edits have made of it; return its recipe and the pieces that are new."""
    package = opened.document.package
    written = package.write()
    # What an edit wrote is not trusted more than what somebody uploads.
    check_parts(package, package.renewed, shelf.policy)
    new = [piece for key, piece in written.pieces.items() if key not in opened.kept]
    opened.kept = set(written.pieces)
    opened.size = written.size
    recipe = written.recipe.encode()
    shelf.put(hashlib.sha256(recipe).hexdigest(), opened)
    return [recipe, *new]


def preview(shelf: Shelf, state: str, orders: Orders) -> Previewed | Invalid:
    """Tell what edits would do, and take them back."""
    before = Shown(shelf.find(state).document)
    opened = shelf.take(state)
    document = opened.document
    done = _edited(document, orders)
    answer = done if isinstance(done, Invalid) else _previewed(done, difference(before, Shown(document)))
    document.package.rollback()
    shelf.put(state, opened)
    return answer


def changed(shelf: Shelf, base: str, head: str, orders: Orders) -> Changed:
    """Tell which nodes edits aim at, as of one state, that look otherwise in another."""
    was, now = shelf.find(base), shelf.find(head)
    if any(REF_TEXT in order.payload_json for order in orders):
        with _for_a_try(shelf, head):
            targets = _targets_in_turn(orders, was.document, now.document)
    else:
        targets = {target for order in orders for target in _targets(_edit(order, {}), was.document, now.document)}
    return Changed([it for it in sorted(targets) if fingerprint(was.document, it) != fingerprint(now.document, it)])


def _edited(document: Document, orders: Orders) -> _Done | Invalid:
    results: list[dict[str, Any]] = []
    by_key: dict[str, JsonValue] = {}
    given: list[str] = []
    for index, order in enumerate(orders):
        occasion = Occasion(order.task_id, order.author, order.at)
        try:
            result = _edit(order, by_key).apply(document, occasion)
            _refuse_large(result)
        except CANNOT_WORK as error:
            return refusal(error, index)
        given += occasion.given
        results.append(result)
        by_key[order.key or ""] = result
    return _Done(results, frozenset(given))


def _previewed(done: _Done, told: dict[str, Any]) -> Previewed:
    # The real edit gives other ids to what it makes.
    return Previewed(_without(done.results, done.given), _without(told, done.given))


@contextmanager
def _for_a_try(shelf: Shelf, state: str) -> Generator[None]:
    """Let a state be edited for a try, while nobody can find it, and roll it back."""
    opened = shelf.take(state)
    try:
        yield
    finally:
        opened.document.package.rollback()
    shelf.put(state, opened)


def _targets_in_turn(orders: Orders, base: Document, head: Document) -> set[str]:
    """Return what edits aim at of which later ones use results of earlier ones: for these all are tried on the head."""
    targets: set[str] = set()
    results: dict[str, JsonValue] = {}
    try:
        for order in orders:
            edit = _edit(order, results)
            targets |= _targets(edit, base, head)
            results[order.key or ""] = edit.apply(head, Occasion(order.task_id, order.author, order.at))
    except CANNOT_WORK:
        # That an edit cannot work is told by its attempt; here the question is only what others have changed.
        pass
    return targets


def _targets(edit: Edit, *documents: Document) -> set[str]:
    return {target for document in documents for target in edit.targets(document)}


def _edit(order: Order, results: Mapping[str, JsonValue]) -> Edit:
    edit, payload_json = all_edits()[order.task_type], order.payload_json
    if REF_TEXT in payload_json:
        resolution = Resolution(json.loads(payload_json), edit.payload_bytes_max)
        resolution.take(resolution.keys, results)
        payload_json = json.dumps(resolution.resolved())
    try:
        return edit.model_validate_json(payload_json)
    except ValidationError as error:
        wrong = relevant(json.loads(payload_json), error.errors(include_url=False))
        first = field_errors((dotted(path), message_of(found)) for path, found in wrong)[0]
        message = f"{first.field}: {first.message}" if first.field else first.message
        raise InvalidEditError(message) from None


def _refuse_large(result: JsonValue) -> None:
    """Refuse a result that would fill the memory of whoever reads it or refers to it."""
    size = size_of(result)
    if size > RESULT_BYTES_MAX:
        raise InvalidEditError(f"its result has {size} bytes; {RESULT_BYTES_MAX} are allowed")


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
