import base64
import struct
from contextlib import suppress

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.formats.pictures.bitmap import PIXELS_MAX, SIDE_MAX, bitmap, given_bitmap
from officeplane.formats.pictures.media_types import media_type
from tests.fixtures.pictures import PIXEL, as_text, chunk, gif, jpeg, png

KINDS = {"png": png(40, 20), "jpeg": jpeg(40, 20), "gif": gif(40, 20)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_measured_without_being_decoded(kind: str) -> None:
    found = bitmap(KINDS[kind])

    assert (found.kind, found.width, found.height, found.content) == (kind, 40, 20, KINDS[kind])
    assert media_type(found.content) == found.media_type


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_behind_a_picture_is_left_behind(kind: str) -> None:
    found = bitmap(KINDS[kind] + b"PK\3\4 another file")

    assert found.content == KINDS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_that_is_cut_off_anywhere_is_refused(kind: str) -> None:
    whole = KINDS[kind]

    for length in range(len(whole)):
        with pytest.raises(InvalidEditError):
            bitmap(whole[:length])


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_with_any_byte_changed_is_refused_or_measured(kind: str) -> None:
    whole = KINDS[kind]

    for at in range(len(whole)):
        for value in (0, 0x21, 0x3B, 0x7F, 0xFF, whole[at] ^ 1):
            with suppress(InvalidEditError):
                found = bitmap(whole[:at] + bytes([value]) + whole[at + 1 :])
                assert 0 < found.width * found.height <= PIXELS_MAX


def test_a_png_that_was_changed_on_the_way_is_refused() -> None:
    whole = bytearray(png(40, 20))
    whole[45] ^= 1

    with pytest.raises(InvalidEditError, match="changed on the way"):
        bitmap(bytes(whole))


@pytest.mark.parametrize(
    "content",
    [
        png(claimed=(SIDE_MAX + 1, 1)),
        png(claimed=(2**31 - 1, 2**31 - 1)),
        png(claimed=(8_001, 8_000)),
        png(claimed=(0, 5)),
        jpeg(65_535, 65_535),
        jpeg(5, 0),
        gif(65_535, 2_000),
        gif(4, 2, picture=(65_535, 2_000)),
    ],
)
def test_a_picture_that_claims_to_be_huge_or_nothing_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidEditError, match="pixels; 32000 on a side"):
        bitmap(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"BM" + bytes(60),
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
        b"%PDF-1.7",
        b"PK\3\4" + png(),
        b"MZ\x90\0",
        b"\xd7\xcd\xc6\x9a",
        b"II*\0",
        b"GIF90a" + gif()[6:],
    ],
)
def test_what_is_neither_png_nor_jpeg_nor_gif_is_refused_whatever_is_said_of_it(content: bytes) -> None:
    with pytest.raises(InvalidEditError, match="as no PNG, JPEG or GIF does"):
        bitmap(content)


@pytest.mark.parametrize(
    "content",
    [
        png()[:8] + chunk(b"IDAT", b"x") + png()[8:],
        png()[:33] + png()[8:],
        png()[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 2, 3, 2, 0, 0, 0)) + png()[33:],
        png()[:33] + chunk(b"IEND", b""),
        jpeg(frame=0xC3),
        jpeg(frame=0xC9),
        jpeg()[:6] + b"<script>" + jpeg()[6:],
        gif()[:19] + b"<script>" + gif()[19:],
        gif()[:19] + b"\x3b",
    ],
)
def test_what_only_begins_as_a_picture_does_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidEditError, match="is no whole"):
        bitmap(content)


def test_base64_may_be_broken_into_lines_and_nothing_else() -> None:
    lines = base64.encodebytes(png(300, 300)).decode()

    assert given_bitmap(lines).content == png(300, 300)
    for text in ("data:image/png;base64," + as_text(PIXEL), as_text(PIXEL)[:-1], "not base64", "-_-_"):
        with pytest.raises(InvalidEditError, match="base64 is no base64"):
            given_bitmap(text)


def test_a_picture_has_its_own_size_as_far_as_there_is_room() -> None:
    found = bitmap(png(400, 200))

    assert found.size(None, (1_000, 1_000)) == (300, 150)
    assert found.size(None, (100, 1_000)) == (100, 50)
    assert found.size(None, (1_000, 15)) == (30, 15)
    assert found.size(500, (1_000, 15)) == (500, 250)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"<?xml version='1.0'?>\n<!-- made -->\n<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        (b"\xef\xbb\xbf<svg width='1'/>", "image/svg+xml"),
        (b"<html>hello", "application/octet-stream"),
        (b"\1\0\0\0" + bytes(36) + b" EMF", "image/emf"),
        (b"\xd7\xcd\xc6\x9a", "image/wmf"),
        (b"RIFF\1\2\3\4WEBPVP8 ", "image/webp"),
        (b"II*\0", "image/tiff"),
        (b"", "application/octet-stream"),
    ],
)
def test_what_a_picture_of_a_file_is_says_its_beginning(content: bytes, kind: str) -> None:
    assert media_type(content) == kind
