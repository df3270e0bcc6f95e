"""Recipes: whatever a file is made of, its recipe gives its bytes back."""

from itertools import accumulate

import pytest
from hypothesis import assume, given
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
def test_a_writer_and_its_recipe_know_the_size_of_what_was_given(stretches: list[bytes]) -> None:
    writer, recipe = written(stretches)

    assert writer.size == recipe.size == len(b"".join(stretches))


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


@given(STRETCHES, st.integers(min_value=1, max_value=40))
def test_what_is_cut_short_is_no_recipe(stretches: list[bytes], missing: int) -> None:
    _, recipe = written(stretches)
    stored = recipe.encode()
    ends = {len(Recipe(recipe.stretches[:count]).encode()) for count in range(len(recipe.stretches) + 1)}
    assume(len(stored) >= missing and len(stored) - missing not in ends)

    with pytest.raises(ValueError, match="cut short"):
        Recipe.decode(stored[:-missing])


def test_what_is_of_another_kind_is_no_recipe() -> None:
    with pytest.raises(ValueError, match="never a recipe"):
        Recipe.decode(b"\x02\x00\x00\x00\x00")
