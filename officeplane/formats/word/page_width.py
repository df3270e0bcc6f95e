"""Page width: how much room a line of text has."""

from typing import Final

from officeplane.formats.word.names import w
from officeplane.formats.xml import Element

_USUAL: Final = 9026
_LEAST: Final = 1440


def text_width(section: Element | None) -> int:
    """Return the width between the margins of a section, in twentieths of a point."""
    size = None if section is None else section.find(w("pgSz"))
    margins = None if section is None else section.find(w("pgMar"))
    if size is None or margins is None:
        return _USUAL
    try:
        return max(
            int(size.get(w("w"), "")) - int(margins.get(w("left"), "")) - int(margins.get(w("right"), "")), _LEAST
        )
    except ValueError:
        return _USUAL
