"""Letters: what can be asked of how they look, in texts and on slides alike."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LettersWanted:
    """What to change of letters; None leaves it as it is."""

    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    strike: bool | None = None
    color: str | None = None
    highlight: str | None = None
    font: str | None = None
    size: float | None = None

    @property
    def says_something(self) -> bool:
        """Whether anything is to be changed."""
        return self != type(self)()
