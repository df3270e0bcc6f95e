"""What every answer says of itself to browsers, unless it says otherwise."""

from typing import Final

from officeplane.domain.representation import PAGE_POLICY

ANSWERS_SAY: Final = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
}
"""It is what it says, no page, in nobody's frame, and not kept."""

DOWNLOADED: Final = "sandbox; frame-ancestors 'none'"
"""A browser that shows a file after all must not run what is in it as a page of ours."""

PAGE: Final = f"sandbox; {PAGE_POLICY}; frame-ancestors 'none'"
"""The same of a page that was made of a document, which may show the pictures and the looks that are in it."""

HOLDS: Final = "OfficePlane-Holds"
"""What a file has in it that whoever downloads it should know of."""

OURS_ALONE: Final = {"Cross-Origin-Resource-Policy": "same-origin"}
"""Besides, of files: no page of somebody else may have it for a part."""
