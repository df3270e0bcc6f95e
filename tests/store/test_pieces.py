"""Pieces in the ledger: the bytes of files are kept in one place, which nobody else knows."""

import hashlib
import re
from importlib.resources import files
from pathlib import Path

import pytest

from officeplane.domain.document import Format
from officeplane.domain.ids import DocumentId
from officeplane.domain.revision import NewRevision, RecipeWriter
from officeplane.store import pieces
from officeplane.store.connection import Ledger
from officeplane.store.pieces import PIECES_AT_ONCE
from officeplane.store.queries import nouns
from tests.workbench import Workbench

PIECE = b"p" * 600
TABLE = re.compile(r"\b(?:FROM|INTO|JOIN|UPDATE|USING|TABLE)\s+pieces\b", re.IGNORECASE)
OFFICEPLANE = Path(str(files("officeplane")))


@pytest.fixture
def ledger(bench: Workbench) -> Ledger:
    """The ledger, with nothing in it."""
    return bench.runtime.ledger


def a_file(*stretches: bytes) -> RecipeWriter:
    """Return what is known of a file that was cut into these stretches."""
    writer = RecipeWriter()
    for stretch in stretches:
        writer.add(stretch)
    return writer


def a_revision(document_id: str, *stretches: bytes) -> NewRevision:
    """Return a revision made of these stretches."""
    file, whole = a_file(*stretches), b"".join(stretches)
    return NewRevision(
        DocumentId(document_id), Format.DOCX, 0, file.finish(), file.pieces, hashlib.sha256(whole).hexdigest(),
        len(whole), None, None,
    )  # fmt: skip


async def test_pieces_of_one_document_are_not_those_of_another(ledger: Ledger) -> None:
    file = a_file(PIECE)
    keys = file.finish().keys

    await pieces.keep(ledger, "a", file.pieces)

    assert await pieces.fetch(ledger, "a", keys) == file.pieces
    assert await pieces.fetch(ledger, "b", keys) == {}
    assert await pieces.keys(ledger, "a") == set(keys)
    assert not await pieces.keys(ledger, "b")


async def test_many_pieces_travel_in_several_statements(ledger: Ledger) -> None:
    file = a_file(*(bytes([n]) * 1024 * 1024 for n in range(6)))
    recipe = file.finish()

    await pieces.keep(ledger, "doc", file.pieces)
    await pieces.keep(ledger, "doc", file.pieces)

    assert await pieces.fetch(ledger, "doc", recipe.keys) == file.pieces


async def test_what_is_dropped_is_gone_and_the_rest_stays(ledger: Ledger) -> None:
    file = a_file(PIECE, b"q" * 600)
    first, second = file.finish().keys
    await pieces.keep(ledger, "doc", file.pieces)

    await pieces.drop(ledger, "doc", [first])
    assert await pieces.keys(ledger, "doc") == {second}

    await pieces.forget(ledger, "doc")
    assert not await pieces.keys(ledger, "doc")


def test_what_goes_along_with_a_statement_is_in_the_one_order_in_which_pieces_are_kept() -> None:
    revisions = [a_revision("b", PIECE, b"q" * 600), a_revision("a", b"r" * 600)]

    values = pieces.values_of(revisions)

    rows = list(zip(values["piece_document_ids"], values["piece_keys"], values["pieces"], strict=True))
    assert len(rows) == 3
    assert rows == sorted(rows)


def test_too_many_bytes_do_not_go_along() -> None:
    parts = [bytes([n]) * 1024 * 1024 for n in range(PIECES_AT_ONCE // 1024 // 1024)]

    assert pieces.go_along([a_revision("a", *parts[1:]), a_revision("b")])
    assert not pieces.go_along([a_revision("a", *parts[1:]), a_revision("b", parts[0])])


def test_no_other_file_of_queries_names_the_table() -> None:
    texts = {noun: (OFFICEPLANE / "store" / "sql" / f"{noun}.sql").read_text(encoding="utf-8") for noun in nouns()}

    assert [noun for noun, text in texts.items() if TABLE.search(text)] == ["pieces"]
