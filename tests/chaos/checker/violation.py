"""A violation: which promise was broken, by what."""

from typing import NamedTuple


class Violation(NamedTuple):
    """One broken promise."""

    invariant: str
    what: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.what}"
