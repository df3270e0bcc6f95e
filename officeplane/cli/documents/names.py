"""Names: from what a file is called to an id that a document may have."""

import re
import unicodedata
from typing import Final

_LENGTH_MAX: Final = 128
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_.:-]+")


def id_from(name: str) -> str:
    """Return the id that is nearest to a name, what no id may hold becoming a hyphen; empty if none is near."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    fit = _UNFIT.sub("-", bare).lstrip("-_.:")[:_LENGTH_MAX]
    # A name that ends with a bracket does not end with a hyphen for that.
    return fit if fit == name else fit.rstrip("-")
