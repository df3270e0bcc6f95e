"""Recipes: whatever a file is made of, its recipe gives its bytes back."""

import hashlib
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.revision import (
    PIECE_BYTES_MAX,
    PIECE_BYTES_MIN,
    PieceRef,
    Recipe,
    RecipeWriter,
    piece_key,
)

SIZES = st.integers(0, 40) | st.integers(PIECE_BYTES_MIN - 2, PIECE_BYTES_MIN + 2)


def _stretch(size: int, fill: int) -> bytes:
    return bytes([fill]) * size


STRETCHES = st.lists(st.builds(_stretch, SIZES, st.integers(0, 3)), max_size=12)


def written(stretches: list[bytes]) -> tuple[RecipeWriter, Recipe]:
    """Return a writer that was given these stretches, and the recipe it made of them."""
    writer = RecipeWriter()
    for stretch in stretches:
        writer.add(stretch)
    return writer, writer.finish()


@given(STRETCHES)
def test_a_recipe_and_its_pieces_give_the_file_back(stretches: list[bytes]) -> None:
    writer, recipe = written(stretches)

    assert b"".join(recipe.assemble(writer.pieces)) == b"".join(stretches)


@given(STRETCHES)
def test_a_recipe_that_was_stored_is_the_same_recipe(stretches: list[bytes]) -> None:
    _, recipe = written(stretches)

    assert Recipe.decode(recipe.encode()) == recipe


@given(STRETCHES)
def test_a_writer_knows_the_size_and_the_hash_of_what_it_was_given(stretches: list[bytes]) -> None:
    writer, _ = written(stretches)
    whole = b"".join(stretches)

    assert (writer.size, writer.sha256) == (len(whole), hashlib.sha256(whole).hexdigest())


@given(STRETCHES)
def test_a_recipe_names_exactly_the_pieces_that_were_made_each_once(stretches: list[bytes]) -> None:
    writer, recipe = written(stretches)

    assert len(recipe.keys) == len(set(recipe.keys))
    assert set(recipe.keys) == set(writer.pieces)
    assert all(piece_key(piece) == key for key, piece in writer.pieces.items())


@given(STRETCHES)
def test_cuts_are_where_the_stretches_end(stretches: list[bytes]) -> None:
    writer, recipe = written(stretches)

    lengths = [len(part) for part in recipe.assemble(writer.pieces)]
    assert recipe.cuts == list(accumulate(lengths))


def test_what_is_short_stands_in_the_recipe_itself_and_is_merged() -> None:
    writer, recipe = written([b"a", b"b" * (PIECE_BYTES_MIN - 1), b"c"])

    assert recipe.stretches == (b"a" + b"b" * (PIECE_BYTES_MIN - 1) + b"c",)
    assert writer.pieces == {}


def test_what_is_long_is_cut_so_that_nobody_holds_more_at_a_time() -> None:
    data = bytes(range(256)) * (PIECE_BYTES_MAX // 256) * 2 + b"the end"

    writer, recipe = written([data])

    assert [stretch.size for stretch in recipe.stretches if isinstance(stretch, PieceRef)] == [
        PIECE_BYTES_MAX,
        PIECE_BYTES_MAX,
        7,
    ]
    assert b"".join(recipe.assemble(writer.pieces)) == data


def test_equal_stretches_are_one_piece() -> None:
    piece = b"x" * PIECE_BYTES_MIN

    writer, recipe = written([piece, b"between", piece])

    assert len(writer.pieces) == 1
    assert recipe.keys == [piece_key(piece)]
    assert len(recipe.stretches) == 3


def test_the_recipe_of_nothing_is_nothing() -> None:
    _, recipe = written([])

    assert recipe.encode() == b""
    assert Recipe.decode(b"") == recipe
