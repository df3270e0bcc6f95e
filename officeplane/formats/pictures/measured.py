"""What is measured of a picture, and the error of one that cannot be."""

from typing import NamedTuple


class Measured(NamedTuple):
    """How many pixels a picture has, and where its bytes end."""

    width: int
    height: int
    end: int


class BrokenPictureError(Exception):
    """The bytes are not what their beginning says."""
