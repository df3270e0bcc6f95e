"""What every answer says of itself to browsers, unless it says otherwise."""

from typing import Final

ANSWERS_SAY: Final = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""It is what it says, no page, in nobody's frame, no part of others' pages, and not kept."""
