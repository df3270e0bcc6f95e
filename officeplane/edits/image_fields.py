"""Fields of edits that bring a picture along."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from officeplane.edits.contract import BASE64_MAX, Words

ONE_PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNQSFgAAAHEASFcollRAAAAAElFTkSuQmCC"
"""The smallest PNG, for examples."""


def _says_something(alt: str) -> str:
    if not alt.strip():
        message = "say in a sentence what the picture shows"
        raise ValueError(message)
    return alt


Base64 = Annotated[
    str,
    Field(
        min_length=1,
        max_length=BASE64_MAX,
        description="The bytes of a PNG, JPEG or GIF in base64 (RFC 4648), without `data:` before them; other kinds of "
        "pictures are refused. Up to 16 MiB; at most 32,000 pixels on a side and 64 million in all.",
    ),
]

Alt = Annotated[Words, Field(max_length=2_000), AfterValidator(_says_something)]
"""What a picture shows, for those who do not see it."""

Points = Annotated[float, Field(gt=0, le=4_032, allow_inf_nan=False)]
"""A length in points, of which an inch has 72."""
