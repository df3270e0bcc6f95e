"""Bitmaps: pictures that somebody gives, known by their bytes and not by what is said of them.

Nothing is decoded: a bitmap is walked through from its first byte to its last as its
format has it, so that one which is cut off, or is no picture at all, is refused. What
stands behind its end is left behind: some cameras put a second picture there, and some
people another file.
"""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from officeplane.domain.document import InvalidEditError
from officeplane.formats.pictures import gif, jpeg, png
from officeplane.formats.pictures.measured import BrokenPictureError, Measured

SIDE_MAX: Final = 32_000
PIXELS_MAX: Final = 64_000_000
"""Whoever shows a picture has to hold four bytes for each of them, however few bytes it was sent as."""

BitmapKind: TypeAlias = Literal["png", "jpeg", "gif"]

_SPACE: Final = str.maketrans("", "", " \t\r\n")
_POINTS_PER_PIXEL: Final = 0.75
"""At 96 to an inch, as the web and Office have it where a picture says nothing else."""


class _Format(NamedTuple):
    kind: BitmapKind
    beginnings: tuple[bytes, ...]
    measure: Callable[[bytes], Measured]


_FORMATS: Final = (
    _Format("png", (b"\x89PNG\r\n\x1a\n",), png.measure),
    _Format("jpeg", (b"\xff\xd8\xff",), jpeg.measure),
    _Format("gif", (b"GIF87a", b"GIF89a"), gif.measure),
)


@dataclass(frozen=True, slots=True)
class Bitmap:
    """A picture that can be put into a document."""

    kind: BitmapKind
    width: int
    height: int
    content: bytes

    @property
    def media_type(self) -> str:
        """What it is called in packages and on the web."""
        return f"image/{self.kind}"

    @property
    def points(self) -> tuple[float, float]:
        """Its own size."""
        return self.width * _POINTS_PER_PIXEL, self.height * _POINTS_PER_PIXEL

    def size(self, width: float | None, room: tuple[float, float]) -> tuple[float, float]:
        """Return its size at a width, or else its own as far as there is room, in its own proportions."""
        if width is not None:
            return width, width * self.height / self.width
        own = self.points
        share = min(1.0, room[0] / own[0], room[1] / own[1])
        return own[0] * share, own[1] * share


def given_bitmap(base64_text: str) -> Bitmap:
    """Return the picture that a text in base64 stands for; raise when it is none that documents take."""
    text = base64_text.translate(_SPACE)
    try:
        return bitmap(base64.b64decode(text, validate=True))
    except binascii.Error:
        also = ": leave out what comes before the comma" if text.startswith("data:") else ""
        raise InvalidEditError(f"base64 is no base64 of RFC 4648{also}") from None


def bitmap(content: bytes) -> Bitmap:
    """Return the picture that bytes are."""
    known = next((one for one in _FORMATS if content.startswith(one.beginnings)), None)
    if known is None:
        raise InvalidEditError(
            f"the bytes of the picture begin with {content[:8].hex(' ') or 'nothing'}, as no PNG, JPEG or GIF does: "
            "give it in one of these"
        )
    try:
        measured = known.measure(content)
    except BrokenPictureError as error:
        raise InvalidEditError(f"the picture is no whole {known.kind.upper()}: {error}") from None
    width, height = measured.width, measured.height
    if not 0 < width <= SIDE_MAX or not 0 < height <= SIDE_MAX or width * height > PIXELS_MAX:
        raise InvalidEditError(
            f"the picture says that it has {width} x {height} pixels; {SIDE_MAX} on a side and {PIXELS_MAX} in all are "
            "allowed: give it smaller"
        )
    return Bitmap(known.kind, width, height, content[: measured.end])
